//! Decides which values are never stored, by the names of what holds them.

use super::Options;
use std::cell::OnceCell;
use std::sync::LazyLock;

/// Names of fields and parameters whose text is never stored: as a whole word or part of a
/// compound, compared in lower case without underscores and hyphens. A bare `token` is not among
/// them: in a parser, tokens are what the crash is about.
const SECRETS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "sessiontoken",
    "bearertoken",
    "idtoken",
    "apitoken",
    "csrftoken",
    "credential",
    "authorization",
    "cookie",
    "sessionid",
    "cvv",
    "creditcard",
    "cardnumber",
    "ssn",
    "pincode",
    "passcode",
    "socialsecurity",
    "connectionstring",
    "otp",
    "pin",
    "jwt",
    "iban",
    "bearer",
    "apisecret",
    "passhash",
    "passwort",
    "kennwort",
    "motdepasse",
    "contrasena",
    "cvc",
    "pswd",
    "totp",
    "senha",
    "pinnumber",
    "ccnumber",
    "routingnumber",
    "securityanswer",
    "securitycode",
    "seedphrase",
    "phpsessid",
    "connectsid",
    "usertoken",
    "resettoken",
    "securitytoken",
    "devicetoken",
    "xsrftoken",
    "sastoken",
    "oauthtoken",
    "oauth2token",
    "logintoken",
    "verificationtoken",
    "registrationtoken",
    "confirmationtoken",
    "activationtoken",
    "remembertoken",
    "remembermetoken",
    "sshkey",
    "pgpkey",
    "gpgkey",
    "privkey",
    "masterkey",
    "sessionkey",
    "sharedkey",
    "accountkey",
    "storagekey",
    "hmackey",
    "symmetrickey",
    "signaturekey",
    "licensekey",
    "authkey",
    "appkey",
    "applicationkey",
    "subscriptionkey",
    "aeskey",
    "deskey",
    "wpakey",
    "psk",
    "keymaterial",
    "basicauth",
    "authheader",
    "authcode",
    "mfacode",
    "verificationcode",
    "recoverycode",
    "backupcode",
    "backupcodes",
    "cred",
    "creds",
    "csrf",
    "sasurl",
    "cardno",
    "ccnum",
    "passportnumber",
    "nationalid",
    "taxid",
    "pwhash",
    "privateseed",
];

/// Words that make a text a secret token when they precede `token` as the last word of its name:
/// the issuer or the purpose (`GITHUB_TOKEN`, `botToken`, `spring.cloud.vault.token`). The tokens
/// of parsers and of pages have other names.
const ISSUERS: &[&str] = &[
    // Services that issue tokens.
    "airtable",
    "anthropic",
    "argocd",
    "artifactory",
    "asana",
    "atlassian",
    "auth0",
    "aws",
    "azure",
    "bitbucket",
    "buildkite",
    "cargo",
    "ci",
    "circle",
    "circleci",
    "cloudflare",
    "codecov",
    "confluence",
    "consul",
    "coveralls",
    "datadog",
    "digitalocean",
    "discord",
    "docker",
    "dropbox",
    "elastic",
    "facebook",
    "fastly",
    "fcm",
    "gcp",
    "gh",
    "gitea",
    "github",
    "gitlab",
    "google",
    "grafana",
    "heroku",
    "hetzner",
    "hf",
    "huggingface",
    "influx",
    "influxdb",
    "jenkins",
    "jfrog",
    "jira",
    "k8s",
    "kube",
    "kubernetes",
    "linkedin",
    "linode",
    "mailgun",
    "mapbox",
    "netlify",
    "nexus",
    "nomad",
    "notion",
    "npm",
    "nuget",
    "okta",
    "openai",
    "pagerduty",
    "paypal",
    "plaid",
    "postmark",
    "pulumi",
    "pypi",
    "rollbar",
    "rubygems",
    "sendgrid",
    "sentry",
    "shopify",
    "slack",
    "snyk",
    "sonar",
    "sonarqube",
    "sonatype",
    "splunk",
    "stripe",
    "telegram",
    "terraform",
    "travis",
    "trello",
    "twilio",
    "twitter",
    "vault",
    "vercel",
    "whatsapp",
    "zoom",
    // Owners and purposes of tokens.
    "account",
    "admin",
    "agent",
    "app",
    "bot",
    "client",
    "customer",
    "delegation",
    "deploy",
    "hmac",
    "impersonation",
    "invitation",
    "invite",
    "job",
    "jwe",
    "jws",
    "magic",
    "mfa",
    "oidc",
    "pat",
    "payment",
    "personal",
    "private",
    "publish",
    "push",
    "recovery",
    "request",
    "root",
    "runner",
    "saml",
    "service",
    "signin",
    "signup",
    "sso",
    "tenant",
    "unsubscribe",
    "webhook",
];

/// The most letters of one of [`ISSUERS`].
const MAX_LETTERS: usize = 16;

/// Words that, directly before `token`, say which one of many it is (`githubPageToken`).
const PLACES: [&str; 12] = [
    "current",
    "cursor",
    "first",
    "last",
    "next",
    "page",
    "pagination",
    "prev",
    "previous",
    "start",
    "sync",
    "continuation",
];

impl Options {
    /// Whether objects of this class must not be stored. The option may name a nested class as in
    /// source, with a dot, or like its class file.
    pub(crate) fn is_secret_class(&self, name: &str) -> bool {
        self.redact.is_class(name)
    }

    /// Whether the value of a field or parameter of this name must not be stored.
    pub(crate) fn is_secret(&self, name: &str) -> bool {
        self.redacts(name) || has_word(name) && is_known(name)
    }

    /// Whether any part of a text can be such a name, or one that [`Options::is_secret_of_type`]
    /// knows. It takes a nanosecond or two per byte; for most texts nothing more is asked.
    pub(crate) fn may_name_secret(&self, text: &str) -> bool {
        self.redact.has_names() || has_word(text)
    }

    /// Whether the value of a field or parameter of this name and descriptor must not be stored. A
    /// flag whether a password has expired is not secret, unless an option says so; and a `pass` or
    /// a GitHub token is a secret if it is a text, not if it counts the passes of a compiler or is
    /// what a parser makes.
    pub(crate) fn is_secret_of_type(&self, name: &str, descriptor: &str) -> bool {
        const TEXTS: [&str; 4] = ["[C", "[B", "Ljava/lang/String;", "Ljava/lang/CharSequence;"];
        match descriptor {
            "Z" => self.redacts(name),
            _ => self.is_secret(name) || TEXTS.contains(&descriptor) && is_secret_text(name),
        }
    }

    /// The same for a value that is certainly a text.
    pub(crate) fn is_secret_text(&self, name: &str) -> bool {
        self.is_secret(name) || is_secret_text(name)
    }

    /// Whether an option makes this name secret.
    fn redacts(&self, name: &str) -> bool {
        self.redact.is_name(name)
    }
}

/// Whether a word is so short that it would be found inside harmless ones.
fn is_short(word: &str) -> bool {
    const SHORT: [&str; 26] = [
        "ssn",
        "otp",
        "totp",
        "cvv",
        "cvc",
        "pwd",
        "pswd",
        "jwt",
        "iban",
        "senha",
        "pin",
        "bearer",
        "psk",
        "cred",
        "creds",
        "csrf",
        // Words of several parts with which other names end: `nodesKey`, `discardNo`,
        // `internationalId`, `syntaxId`.
        "deskey",
        "authcode",
        "backupcode",
        "backupcodes",
        "sasurl",
        "cardno",
        "ccnum",
        "nationalid",
        "taxid",
        "pwhash",
    ];
    SHORT.contains(&word)
}

/// Whether a name is one of [`SECRETS`], or has one as a part.
fn is_known(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, '_' | '-' | '$'))
        .flat_map(char::to_lowercase)
        .collect();
    let of_name = OnceCell::new();
    let last = || of_name.get_or_init(|| words(name)).last();
    // A text from outside may be taken for a name, and seem to have a short word in very many
    // places.
    let mut asked = Vec::new();
    let mut is_there = |secret: &'static str| match secret {
        // These are parts of harmless names (`pinMode`) as well.
        "pin" | "bearer" => plain == secret || last().is_some_and(|last| last == secret),
        short if is_short(short) => {
            if asked.contains(&short) {
                return false;
            }
            asked.push(short);
            plain == short || has_run(of_name.get_or_init(|| words(name)), short)
        }
        _ => true,
    };
    let mut letters = plain.char_indices();
    letters.any(|(at, letter)| {
        let mut known = beginning_with(letter).iter();
        known.any(|secret| plain[at..].starts_with(*secret) && is_there(secret))
    })
}

/// Whether successive words form one of them, even if numbered (`cvv2`).
fn has_run(words: &[String], one: &str) -> bool {
    (0..words.len()).any(|from| {
        let mut rest = Some(one);
        let mut run = words[from..].iter();
        while let Some(left) = rest.filter(|left| !left.is_empty()) {
            let Some(word) = run.next() else { return false };
            let plain = word.trim_end_matches(|c: char| c.is_ascii_digit());
            rest = match left.strip_prefix(word.as_str()) {
                None if left == plain => return true,
                left => left,
            };
        }
        rest.is_some()
    })
}

/// Whether a text of this name is a secret because of its last word and those before it.
fn is_secret_text(name: &str) -> bool {
    let rest = name.trim_end_matches(|c: char| !c.is_alphanumeric());
    let ends_with = |word: &str| {
        let start = rest.len().checked_sub(word.len());
        let end = start.and_then(|start| rest.get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    if ends_with(PASS) {
        words(name).last().is_some_and(|last| last == PASS)
    } else {
        ends_with(TOKEN) && is_issued(words(name))
    }
}

/// Whether these words name a token that grants access.
fn is_issued(mut words: Vec<String>) -> bool {
    // The last one may be all of the name: `npmtoken`.
    let last = words.pop().unwrap_or_default();
    let stem = last.strip_suffix(TOKEN).unwrap_or_default();
    if !stem.is_empty() {
        return ISSUERS.contains(&stem);
    }
    let is_place = |word: &String| PLACES.contains(&word.as_str());
    if words.last().is_some_and(is_place) {
        return false;
    }
    // `gitHubToken` has two words for one.
    let nearest = &words[words.len().saturating_sub(MAX_LETTERS)..];
    let is_joined = |from: usize| ISSUERS.contains(&nearest[from..].concat().as_str());
    words.iter().any(|word| ISSUERS.contains(&word.as_str())) || (0..nearest.len()).any(is_joined)
}

/// Characters that are ignored between the letters of a name, including the dots of a property.
const SEPARATORS: &[u8] = b"_-$.";

/// Whether one of [`SECRETS`] may be in a text; if not, nothing in it is the name of a secret.
fn has_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let seconds = SECOND_LETTERS.as_slice();
    bytes.windows(2).enumerate().any(|(at, two)| {
        seconds[usize::from(two[0] & 31)][usize::from(two[1])] && {
            let letter = two[0].to_ascii_lowercase();
            let also_last = match letter {
                b'p' => Some(PASS),
                b't' => Some(TOKEN),
                _ => None,
            };
            let mut words = beginning_with(char::from(letter))
                .iter()
                .copied()
                .chain(also_last);
            words.any(|word| is_word_at(bytes, at, word))
        }
    })
}

/// A word that makes a text secret as the last word of its name.
const PASS: &str = "pass";

/// A word that does so after one of [`ISSUERS`].
const TOKEN: &str = "token";

/// The bytes before `token` that are examined.
const MAX_ISSUER: usize = 100;

/// Whether a word may begin at a place, whatever is between its letters.
fn is_word_at(bytes: &[u8], at: usize, word: &str) -> bool {
    let mut end = at;
    for letter in word.bytes() {
        while end > at && bytes.get(end).is_some_and(|byte| SEPARATORS.contains(byte)) {
            end += 1;
        }
        if bytes.get(end).map(u8::to_ascii_lowercase) != Some(letter) {
            return false;
        }
        end += 1;
    }
    if word == TOKEN {
        let start = at.saturating_sub(MAX_ISSUER);
        let is_of_name = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || !byte.is_ascii()
                || SEPARATORS.contains(byte)
                || *byte == b' '
        };
        let name = bytes[start..end].rsplit(|byte| !is_of_name(byte)).next();
        return name.is_some_and(|name| is_secret_text(&String::from_utf8_lossy(name)));
    }
    if word != PASS && !is_short(word) {
        return true;
    }
    let before = at.checked_sub(1).map(|before| bytes[before]);
    let is_begin = bytes[at].is_ascii_uppercase()
        || !before.is_some_and(|before| before.is_ascii_alphanumeric());
    // Digits may number it.
    let goes_on = |byte: &u8| byte.is_ascii_lowercase();
    is_begin && !bytes.get(end).is_some_and(goes_on)
}

/// By the lower five bits of each letter with which a word begins, the letters that may follow it.
static SECOND_LETTERS: LazyLock<[[bool; 256]; 32]> = LazyLock::new(|| {
    let mut all = [[false; 256]; 32];
    for word in SECRETS.iter().chain([&PASS, &TOKEN]) {
        let word = word.as_bytes();
        let others = [word[1], word[1].to_ascii_uppercase()];
        for second in others.iter().chain(SEPARATORS) {
            all[usize::from(word[0] & 31)][usize::from(*second)] = true;
        }
    }
    all
});

/// Those of [`SECRETS`] that begin with this letter.
fn beginning_with(letter: char) -> &'static [&'static str] {
    static BY_LETTER: LazyLock<[Vec<&str>; 26]> = LazyLock::new(|| {
        let mut all = [const { Vec::new() }; 26];
        for secret in SECRETS {
            all[usize::from(secret.as_bytes()[0] - b'a')].push(*secret);
        }
        all
    });
    match letter {
        'a'..='z' => &BY_LETTER[letter as usize - 'a' as usize],
        _ => &[],
    }
}

/// The words of a name in lower case: `userPWD`, `SMTP_pwd`, `db-pwd`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, letter) in letters.iter().enumerate() {
        let next_is_small = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let before = at.checked_sub(1).map(|before| letters[before]);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| !before.is_uppercase() || next_is_small);
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            last.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

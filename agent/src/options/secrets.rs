//! Which values are never stored, by the names of what holds them.

use super::values::{bad, list};
use super::{Error, Options};
use hindsight_instrument::glob::Globs;

/// Names of fields and parameters whose text is never stored: as a whole word
/// or part of a compound, compared in lower case without underscores and hyphens. A
/// bare `token` is not among them: in a parser that is what the crash is about.
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
];

impl Options {
    pub(super) fn redact(&mut self, value: &str) -> Result<(), Error> {
        const ACCEPTED: &str = "globs of names, type:GLOB, annotation:SIMPLENAME, separated by ;";
        if list(value).next().is_none() {
            return Err(bad("redact", value, ACCEPTED));
        }
        let mut types = Vec::new();
        for entry in list(value) {
            match entry.split_once(':') {
                None => self.redact.push(entry.to_owned()),
                Some(("type", glob)) if !glob.is_empty() => types.push(glob),
                Some(("annotation", name)) => {
                    // As it is written in source, or with its package.
                    let simple = name.trim_start_matches('@').rsplit(['.', '$']).next();
                    match simple {
                        Some(simple) if !simple.is_empty() && !simple.contains(['*', '?']) => {
                            self.redact_annotations.push(simple.to_owned());
                        }
                        _ => return Err(bad("redact", entry, ACCEPTED)),
                    }
                }
                Some(_) => return Err(bad("redact", entry, ACCEPTED)),
            }
        }
        self.redact_types = Globs::new(types);
        Ok(())
    }

    /// Whether the value of a field or parameter of this name must not be stored.
    pub(crate) fn is_secret(&self, name: &str) -> bool {
        let plain: String = name
            .chars()
            .filter(|c| !matches!(c, '_' | '-' | '$'))
            .flat_map(char::to_lowercase)
            .collect();
        // Keys of large maps are asked about, too: mostly there is no such word, wherever one begins.
        let words_with = |word: &str| match plain.contains(word) {
            true => words(name),
            false => Vec::new(),
        };
        let has_word = |word: &str| words_with(word).iter().any(|known| known == word);
        let ends_with = |word: &str| words_with(word).last().is_some_and(|last| last == word);
        SECRETS.iter().any(|secret| match *secret {
            // Short words would be found inside harmless ones,
            "ssn" | "otp" | "totp" | "cvv" | "cvc" | "pwd" | "pswd" | "jwt" | "iban" | "senha" => {
                plain == *secret || has_word(secret)
            }
            // and these are parts of harmless names (`pinMode`), too.
            "pin" | "bearer" => plain == *secret || ends_with(secret),
            _ => plain.contains(secret),
        }) || self.redacts(name)
    }

    /// The same of a field or parameter with this descriptor: whether a password has expired is none, unless an
    /// option says so; and a `pass` is a secret if it is a text, not if it counts what a compiler does.
    pub(crate) fn is_secret_of_type(&self, name: &str, descriptor: &str) -> bool {
        const TEXTS: [&str; 4] = ["[C", "[B", "Ljava/lang/String;", "Ljava/lang/CharSequence;"];
        let is_pass = || words(name).last().is_some_and(|last| last == "pass");
        match descriptor {
            "Z" => self.redacts(name),
            _ => self.is_secret(name) || TEXTS.contains(&descriptor) && is_pass(),
        }
    }

    /// Whether an option says that it is secret.
    fn redacts(&self, name: &str) -> bool {
        (self.redact.iter()).any(|pattern| Globs::new([pattern.as_str()]).matches(name))
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

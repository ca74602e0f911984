//! A text that is secret because of a map's key, or a property's name, is in no crash file, and in
//! nothing made from one.

use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks, jdks_in_turn};
use hindsight_tracelog::crash::{Body, Object, Value};
use hindsight_tracelog::reader::Crash;
use hindsight_tracelog::record;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "\
import java.util.*;
import java.util.concurrent.*;

class Maps {
    static int number;

    /** A map's entry for a secret, and one that may be shown. */
    static <M extends Map<String, Object>> M fill(M map) {
        number++;
        map.put(new String(\"db.password\"), new String(\"hunter\") + number);
        map.put(\"db.host\", \"plain\" + number);
        return map;
    }

    /** Constants and their fields may be keys. */
    enum Vault {
        PASSWORD, PLAIN, KEYED;

        String value;
        String key;
    }

    static void look(Object... maps) {
        Vault.PASSWORD.value = \"gone\";
        Vault.KEYED.value = \"gone, too\";
        throw new IllegalStateException();
    }

    public static void main(String[] args) {
        System.setProperty(\"api-key\", \"hunter in a property\");
        System.setProperty(\"app.mode\", \"fast\");
        Properties properties = new Properties();
        properties.setProperty(\"db.password\", \"hunter in properties\");
        Vault.PASSWORD.value = new String(\"hunter of a constant\");
        Vault.PLAIN.value = \"plain of a constant\";
        Vault.KEYED.key = \"password\";
        Vault.KEYED.value = new String(\"hunter of a key\");
        Map<String, Object> lists = new HashMap<>();
        lists.put(\"Authorization\", List.of(\"hunter in a list\", new StringBuilder(\"hunter built\")));
        look(fill(new HashMap<>()), fill(new LinkedHashMap<>()), fill(new TreeMap<>()),
                fill(new Hashtable<>()), fill(new IdentityHashMap<>()), fill(new WeakHashMap<>()),
                fill(new ConcurrentHashMap<>()), fill(new ConcurrentSkipListMap<>()),
                Map.of(\"password\", \"hunter alone\"),
                Map.of(\"password\", \"hunter\", \"user\", \"plain of two\"),
                Collections.singletonMap(\"password\", \"hunter single\"),
                new AbstractMap.SimpleEntry<>(\"password\", \"hunter entry\"),
                Map.entry(\"password\", \"hunter pair\"), properties, lists,
                Vault.PASSWORD, Vault.PLAIN, Vault.KEYED);
    }
}
";

#[test]
fn values_of_secret_keys_are_not_stored() {
    let sides = (jdks().iter()).flat_map(|jdk| ["", "copy=deep"].map(|options| (jdk, options)));
    for (jdk, options) in sides {
        let workplace = Workplace::new(&format!("secrets-{}", jdk.version));
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Maps", PROGRAM);
        let run = workplace
            .java_with_agent(jdk, options)
            .arg("-cp")
            .arg(&classes)
            .arg("Maps")
            .args(["plain", "--token=hunter of an option", "--db-password"])
            .args(["hunter after one", "jdbc://me:hunter@host/db"])
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let crash = workplace.crashes().remove(0);
        let texts = texts(&crash);
        let leaked: Vec<&String> = texts
            .iter()
            .filter(|text| text.contains("hunter"))
            .collect();
        assert!(leaked.is_empty(), "JDK {}: {leaked:?}", jdk.version);
        let plain: HashSet<&String> = texts.iter().filter(|text| text.contains("plain")).collect();
        assert_eq!(plain.len(), 11, "JDK {}: {plain:?}", jdk.version);
        assert_eq!(
            crash.meta.properties,
            [("api-key", "***"), ("app.mode", "fast")].map(|(k, v)| (k.to_owned(), v.to_owned())),
            "JDK {}",
            jdk.version
        );
        if options.is_empty() && jdks_in_turn().contains(jdk) {
            let file = workplace.crash_files().remove(0);
            check_outputs(&workplace, jdk, &file, &classes);
        }
    }
}

/// Places that are secret by annotation or type, and what happens to their content elsewhere.
const ANNOTATED: &str = "\
import java.lang.annotation.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

@interface Secret {} // In the class file alone.
@Retention(RetentionPolicy.RUNTIME) @interface Shown {}
@Retention(RetentionPolicy.RUNTIME) @Target(ElementType.TYPE_USE) @interface Hidden { String[] value() default {}; }

class Account {
    @Secret String pin = new String(\"hunter by field\");
    @Secret int code = 7654321;
    @Secret char[] chars = \"hunter in chars\".toCharArray();
    @Hidden({\"a\", \"b\"}) String typed = new String(\"hunter by type use\");
    @Shown String shown = \"plain shown\";
    Key key = new Key();
    Card card = new Card(\"plain holder\", new String(\"hunter component\"));
    Token token = new Token();
    Object copy = pin;
}
@Secret class Key { String inside = \"hunter in a class\"; }
class Token extends ArrayList<Object> { String inside = \"hunter in a type\"; }
record Card(String holder, @Secret String number) {
    Card { if (holder == null) throw new IllegalArgumentException(); }
}

class Main {
    static void login(@Shown String user, @Secret String word, @Hidden String again, Account account) {
        // An ordinary parameter, an alias, copies in all encodings, and a text around it.
        check(word, List.of(word.toCharArray(), word.getBytes(StandardCharsets.UTF_8),
                word.getBytes(StandardCharsets.UTF_16BE), word.getBytes(StandardCharsets.UTF_16LE),
                word.getBytes(StandardCharsets.ISO_8859_1), \"<\" + word + \">\", new StringBuilder(word),
                new StringBuilder(word).append((char) 0x20ac)), account);
    }
    static void check(String text, List<Object> others, Account account) {
        account.pin = null;
        throw new IllegalStateException(\"wrong: \" + text);
    }
    // Reads a field of what is no more than a hole.
    static void enter(Token token, Key key) {
        if (token.inside.length() + key.inside.length() == 0) return;
        login(\"plain user\", new String(\"h\\u00fcnter by parameter\"), \"hunter again\", new Account());
    }
    public static void main(String[] args) {
        System.setProperty(\"app.word\", \"h\\u00fcnter by parameter\");
        enter(new Token(), new Key());
    }
}
";

/// Hazard: secrets in memory.
const HOLDERS: &str = "\
import java.util.*;
import java.util.concurrent.atomic.*;

class Holders {
    enum Key { USER, PASSWORD }
    static class Box { final String value; int reads; Box(String value) { this.value = value; } }
    static class Account {
        String user = new String(\"hunter of a user\");
        char[] code = \"hunter of chars\".toCharArray();
        Box inner = new Box(\"hunter within\");
        Deep deep = new Deep();
    }
    static class Deep { String name = \"plain below\"; List<String> more = List.of(\"plain in a list\"); }

    // Met before anything says that it is secret.
    List<Box> first = new ArrayList<>(List.of(new Box(\"hunter met before\")));
    Box early = new Box(\"hunter early\");
    Object[] together = {first, early};
    Optional<String> apiToken = Optional.of(\"hunter optional\");
    Box password = new Box(\"hunter boxed\");
    Account credentials = new Account();
    Map<Key, String> byKey = new EnumMap<>(Map.of(Key.USER, \"plain user\", Key.PASSWORD, \"hunter by key\"));
    Map<Key, String> hashed = new HashMap<>(Map.of(Key.PASSWORD, \"hunter hashed\"));
    List<Box> secrets = first;
    Box apiKey = early;
    Box shown = new Box(\"plain box\");

    char[] letters = \"hunter optional\".toCharArray();
    java.util.function.Supplier<String> shownBefore = supplier(new String(\"hunter captured\"));
    java.util.function.Supplier<String> secretSupplier = shownBefore;

    static java.util.function.Supplier<String> supplier(String text) { return () -> text; }

    void look(Box passphrase, Box other) {
        password.reads++;
        // Known as a secret elsewhere, and gone at the failure.
        Arrays.fill(letters, 'x');
        throw new IllegalStateException();
    }

    public static void main(String[] args) {
        new Holders().look(new Box(\"hunter argument\"), new Box(\"plain argument\"));
    }
}
";

#[test]
fn what_holds_a_secret_hides_its_text() {
    for (jdk, options) in jdks()
        .iter()
        .flat_map(|jdk| [(jdk, ""), (jdk, "copy=deep")])
    {
        let workplace = Workplace::new(&format!("holders-{}", jdk.version));
        let classes = workplace.compile_text(jdk, &["-g", "--release", "11"], "Holders", HOLDERS);
        let run = workplace
            .java_with_agent(jdk, options)
            .arg("-cp")
            .arg(&classes)
            .arg("Holders")
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let crash = workplace.crashes().remove(0);
        let texts = texts(&crash);
        // The earlier content of an array of characters is in one piece.
        let frames = &crash.failure.frames;
        let before = frames.iter().map(|frame| -> String {
            let values = frame.patch.iter().filter(|patch| patch.index.is_some());
            let units = values.filter_map(|patch| match patch.value {
                Value::Int(unit) => char::from_u32(unit as u32),
                _ => None,
            });
            units.collect()
        });
        let before: Vec<String> = before.collect();
        assert!(
            !before.iter().any(|text| text.contains("hunter")),
            "{before:?}"
        );
        let of = |word: &str| texts.iter().filter(|text| text.contains(word)).count();
        assert_eq!(of("hunter"), 0, "JDK {}: {texts:?}", jdk.version);
        // The other objects that a holder refers to are shown.
        assert_eq!(of("plain"), 5, "JDK {}: {texts:?}", jdk.version);
    }
}

#[test]
fn values_that_annotations_or_types_call_secret_are_not_stored() {
    for jdk in jdks() {
        let label = format!("JDK {}", jdk.version);
        for mode in ["crash", "second-chance"] {
            let workplace = Workplace::new(&format!("annotated-{}", jdk.version));
            let classes = workplace.compile_text(jdk, &["--release", "17"], "Main", ANNOTATED);
            let chances = workplace.join("out/chances");
            fs::create_dir_all(workplace.join("out")).unwrap();
            fs::write(chances, "Main.check\nMain.enter\nMain.login\n").unwrap();
            let options = format!(
                "mode={mode},redact=annotation:Secret;annotation:@Hidden;type:**.Token;type:Token"
            );
            let run = workplace
                .java_with_agent(jdk, &options)
                .arg("-cp")
                .arg(&classes)
                .arg("Main")
                .output()
                .unwrap();
            assert_eq!(run.status.code(), Some(1), "{}", both(&run));
            let bytes = fs::read(&workplace.crash_files()[0]).unwrap();
            let text = readable(&bytes);
            // "h\u{fc}nter", as Latin-1 and as UTF-8 read byte by byte.
            for form in ["hunter", "h\u{fc}nter", "h\u{c3}\u{bc}nter"] {
                assert!(!text.contains(form), "{label} {mode}: {form}");
            }
            for plain in ["plain user", "plain shown", "plain holder"] {
                assert!(text.contains(plain), "{label} {mode}: {plain}");
            }
            let crash = workplace.crashes().remove(0);
            assert_eq!(
                crash.failure.exceptions[0].message.as_deref(),
                Some("wrong: ***")
            );
            let told = hindsight_test_programs::render(&crash);
            // Only type and length class are left.
            assert!(
                told.contains("word=hole(redacted, length 17 to 32)"),
                "{label}: {told}"
            );
            assert!(
                told.contains("again=hole(redacted, length 9 to 16)"),
                "{label}: {told}"
            );
            assert!(told.contains("code=null"), "{label}: {told}");
            assert!(
                told.contains("key=hole(redacted)") && told.contains("token=hole(redacted)"),
                "{label}: {told}"
            );
        }
    }
}

/// Compilers put parameters of their own before and after the declared ones.
const DECLARED: &str = r#"
import java.lang.annotation.*;
import java.util.Objects;

class Declared {
    @Retention(RetentionPolicy.CLASS) @Target(ElementType.PARAMETER) @interface Secret {}
    @Retention(RetentionPolicy.CLASS) @Target(ElementType.TYPE_USE) @interface Hidden {}

    enum Level {
        ONE("hunter of an enum", "plain of an enum");
        Level(@Hidden String word, String shown) { Objects.requireNonNull(null); }
    }
    class In {
        In(@Hidden String word, String shown) { Level.valueOf("ONE"); }
    }
    static void run(String host) {
        class Client {
            Client(@Secret String word, String shown) {
                System.out.println(host.length());
                new Declared().new In("hunter inside", "plain inside");
            }
        }
        new Client("hunter of a local class", "plain local");
    }

    public static void main(String[] args) { run("plain host"); }
}
"#;

#[test]
fn annotations_are_of_the_parameters_that_are_declared() {
    for jdk in jdks() {
        let workplace = Workplace::new(&format!("declared-{}", jdk.version));
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Declared", DECLARED);
        let run = workplace
            .java_with_agent(jdk, "redact=annotation:Secret;annotation:Hidden")
            .arg("-cp")
            .arg(&classes)
            .arg("Declared")
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let stored = texts(&workplace.crashes().remove(0));
        let told = |text: &str| stored.iter().any(|one| one == text);
        let hunters = stored.iter().any(|text| text.contains("hunter"));
        assert!(!hunters, "JDK {}: {stored:?}", jdk.version);
        for plain in [
            "plain of an enum",
            "plain inside",
            "plain local",
            "plain host",
        ] {
            assert!(told(plain), "JDK {} {plain}: {stored:?}", jdk.version);
        }
    }
}

/// Hazard: secrets in memory.
const NUMBERS: &str = "\
import java.io.*;
import java.math.*;
import java.util.*;
import java.util.concurrent.atomic.*;

class Numbers {
    // Met before anything says that it is secret.
    Object early = new ArrayList<>(List.of(1987654321));
    Object[] met = {1212121212};
    Object named = new Object() { String one = new String(\"hunterword\"), two = \"two\"; };
    Object later = new Object() { Object password = met, secret = named; };
    Object shown = Integer.valueOf(1555555555);
    Integer passwordCode = 1234567891;
    Long secretAccount = 1122334455L;
    Object secrets = early;
    Optional<Integer> secretNumber = Optional.of(1333333333);
    Map<String, Integer> passwords = new HashMap<>(Map.of(\"x\", 1444444444));
    List<Character> passwordLetters = List.of('\\uabcd', '\\uabce');
    BigInteger privateKey = BigInteger.valueOf(1222222222);
    UUID apiKey = new UUID(1666666666, 1777777777);
    int[] passwordPoints = {1888888888, 7};
    AtomicInteger secretCount = new AtomicInteger(1999999999);
    StringBuilder password = new StringBuilder(\"hunter built\");
    Object copy = new String(\"hunter built\");
    StringWriter secretWriter = new StringWriter();
    ByteArrayOutputStream secretBytes = new ByteArrayOutputStream();
    Object[] copies = {new String(\"hunter written\"), new String(\"hunter in bytes\")};
    String url = \"jdbc:x://bob:hunter99@h/db\";
    String header = \"Authorization: Bearer hunterhunter\";
    Object signer;

    void look() { throw new IllegalStateException(\"no \" + url + \": hunter built\"); }

    public static void main(String[] args) throws Exception {
        Numbers numbers = new Numbers();
        numbers.secretWriter.write(\"hunter written\");
        numbers.secretBytes.write(\"hunter in bytes\".getBytes());
        numbers.signer = java.security.KeyPairGenerator.getInstance(\"EC\").generateKeyPair().getPrivate();
        numbers.look();
    }
}
";

#[test]
fn numbers_and_buffers_in_secret_places_are_not_stored() {
    for jdk in jdks() {
        let workplace = Workplace::new(&format!("numbers-{}", jdk.version));
        let (_, run) = workplace.run_text(jdk, "11", "", ("Numbers", NUMBERS));
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let bytes = fs::read(&workplace.crash_files()[0]).unwrap();
        assert!(!readable(&bytes).contains("hunter"), "JDK {}", jdk.version);
        let crash = workplace.crashes().remove(0);
        let message = crash.failure.exceptions[0].message.clone();
        let expected = "no jdbc:x://bob:***@h/db: ***";
        assert_eq!(message.as_deref(), Some(expected), "JDK {}", jdk.version);
        // Only a rough length of a secret text is kept, even by its holder.
        let holders = ["java.lang.StringBuilder", "java.io.ByteArrayOutputStream"];
        for holder in holders {
            let of = |object: &&Object| crash.classes[object.class as usize].name == holder;
            let all = crash.objects.iter().flatten().filter(of);
            let counts: Vec<Value> = all
                .flat_map(|object| {
                    let fields = crash.classes[object.class as usize].fields.iter();
                    let values = object.body.fields().into_iter().flatten();
                    fields
                        .zip(values)
                        .filter(|(field, _)| field.name == "count")
                })
                .map(|(_, value)| *value)
                .collect();
            assert_eq!(counts, [Value::Null], "{holder}");
        }
        let mut numbers: Vec<i64> = Vec::new();
        for object in crash.objects.iter().flatten() {
            match &object.body {
                Body::Primitives(bytes) => {
                    let ints = bytes.chunks_exact(4);
                    let ints = ints.map(|four| i32::from_le_bytes(four.try_into().unwrap()));
                    numbers.extend(ints.map(i64::from));
                }
                body => numbers.extend(body.fields().into_iter().flatten().filter_map(|value| {
                    match value {
                        Value::Int(number) => Some(*number),
                        _ => None,
                    }
                })),
            }
        }
        let found = |number: i64| numbers.contains(&number);
        for number in [
            1_987_654_321,
            1_212_121_212,
            1_234_567_891,
            1_122_334_455,
            1_333_333_333,
            1_444_444_444,
            0xabcd,
            0xabce,
            1_222_222_222,
            1_666_666_666,
            1_777_777_777,
            1_888_888_888,
            1_999_999_999,
        ] {
            assert!(!found(number), "JDK {}: {number}", jdk.version);
        }
        assert!(found(1_555_555_555), "JDK {}", jdk.version);
        let told = format!("{:?}", crash.objects);
        assert!(!told.contains("algid"), "JDK {}: {told}", jdk.version);
    }
}

/// Searches emitted tests, with values built and loaded, and a trimmed file.
fn check_outputs(workplace: &Workplace, jdk: &Jdk, file: &Path, classes: &Path) {
    let run = |arguments: &[&str], out: &str| {
        let output = Command::new(hindsight())
            .args(arguments)
            .arg(file)
            .arg("--classpath")
            .arg(classes)
            .arg("--jdk")
            .arg(&jdk.home)
            .arg("--out")
            .arg(workplace.join(out))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", both(&output));
    };
    run(&["junit", "--project", "--keep-all"], "built");
    run(&["junit", "--project", "--values", "loaded"], "loaded");
    run(&["trim"], "trimmed.hsc");
    let mut files = vec![workplace.join("trimmed.hsc")];
    for out in ["built", "loaded"] {
        files_below(&workplace.join(out), &mut files);
    }
    let mut plain = 0;
    for path in &files {
        // The program itself may well contain it.
        if path.extension().is_some_and(|extension| extension == "jar") {
            continue;
        }
        let text = readable(&fs::read(path).unwrap());
        assert!(
            !text.contains("hunter"),
            "JDK {}: {}",
            jdk.version,
            path.display()
        );
        plain += usize::from(text.contains("plain"));
    }
    // The search does find what is there: in sources and in crash files.
    assert!(plain >= 4, "JDK {}: {plain} of {files:?}", jdk.version);
}

/// The strings of a crash, and the primitive arrays as texts.
pub(crate) fn texts(crash: &Crash) -> Vec<String> {
    let objects = crash.objects.iter().flatten();
    let texts = objects.filter_map(|object| match &object.body {
        Body::String(text) => Some(text.to_lossy()),
        Body::Primitives(bytes) => Some(String::from_utf8_lossy(bytes).replace('\0', "")),
        _ => None,
    });
    texts.collect()
}

/// The bytes of a file as text, one byte a character; for a crash file, those of its unpacked
/// content.
pub(crate) fn readable(bytes: &[u8]) -> String {
    let mut content = bytes.to_vec();
    if bytes.starts_with(record::MAGIC) {
        let mut offset = record::FILE_HEADER;
        while offset < bytes.len() {
            let found = record::find(bytes, offset).unwrap();
            content.extend(found.unpack().unwrap());
            offset = found.next;
        }
    }
    // Two-byte characters are readable as text too without their zeros.
    content.retain(|&byte| byte != 0);
    content.into_iter().map(char::from).collect()
}

fn files_below(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}

const FORMS: &str = "
import java.net.URL;
import java.util.*;

class Forms {
    URL url;
    byte[] request = \"GET / HTTP/1.1\\r\\nAuthorization: Bearer hunter-one-two\\r\\n\\r\\n\".getBytes();
    char[] header = \"Authorization: Basic hunter-three\".toCharArray();
    StringBuilder log = new StringBuilder(\"Authorization: Bearer hunter-four\");
    byte[] driver = \"jdbc:pg://u:hunter-five@h/x\".getBytes();
    String source = \"jdbc:postgresql://h/db?user=a&password=hunter-six\";
    String other = \"jdbc:sqlserver://h;password=hunter-seven;encrypt=true\";
    String[][] pairs = {{new String(\"password\"), \"hunter-13\"}, {\"user\", \"plain user\"}};
    String statement = \"CREATE USER joe PASSWORD 'hunter-14'\";
    String userPwd = \"hunter eight\";
    Map<String, String> settings = Map.of(\"db-pwd\", \"hunter nine\", \"SMTP_PWD\", \"hunter ten\");
    String plain = \"plain, opinion\";

    static void look(Forms forms, Map<Object, Object> identities) {
        identities.put(\"job\", \"plain job\");
        identities.remove(\"job\");
        throw new IllegalStateException();
    }

    public static void main(String[] args) throws Exception {
        Forms forms = new Forms();
        forms.url = new URL(\"http://bob:hunter-eleven@h/p\");
        look(forms, new IdentityHashMap<>(Map.of(\"state\", \"plain state\")));
    }
}
";

/// Text is recognised as secret by its form wherever it is, and by names of several words; an
/// identity map without a secret key hides nothing.
#[test]
fn forms_of_secrets_are_known_in_arrays_and_urls() {
    let sides = (jdks().iter()).flat_map(|jdk| ["", "copy=deep"].map(|options| (jdk, options)));
    for (jdk, options) in sides {
        let workplace = Workplace::new("forms");
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Forms", FORMS);
        let run = workplace
            .java_with_agent(jdk, options)
            .arg("-Dspring.datasource.url=jdbc:mysql://h/db?user=a&password=hunter-twelve")
            .arg("-cp")
            .arg(&classes)
            .arg("Forms")
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let crash = workplace.crashes().remove(0);
        let texts = crash
            .objects
            .iter()
            .flatten()
            .filter_map(|object| match &object.body {
                Body::String(text) => Some(text.to_lossy()),
                Body::Primitives(bytes) => Some(
                    bytes
                        .iter()
                        .filter(|b| **b > 0)
                        .map(|b| char::from(*b))
                        .collect(),
                ),
                _ => None,
            });
        let texts: Vec<String> = texts.collect();
        let leaked: Vec<_> = texts
            .iter()
            .filter(|text| text.contains("hunter"))
            .collect();
        assert!(
            leaked.is_empty(),
            "JDK {} {options}: {leaked:?}",
            jdk.version
        );
        let told = workplace.run_json().to_string();
        assert!(
            told.contains("password=***") && !told.contains("hunter"),
            "{told}"
        );
        for plain in ["plain, opinion", "plain state", "plain user"] {
            assert!(
                texts.iter().any(|text| text == plain),
                "{options}: {texts:?}"
            );
        }
    }
}

/// Hazard: secrets in memory.
const INHERITED: &str = "\
import java.lang.annotation.*;
import java.net.*;
import java.security.spec.*;
import java.util.*;

class Inherited {
    interface Top { }
    interface Mid extends Top { }
    @Retention(RetentionPolicy.RUNTIME) @interface Sensitive { }
    @Sensitive interface Marked { }
    interface Below extends Marked { }
    static class Base { }
    static class BySuperinterface implements Mid { String value = \"hunter 1\"; }
    static class Direct extends Base implements Top { String value = \"hunter 2\"; }
    static class BySuperclass extends Direct { String own = \"hunter 3\"; }
    static class ByMarked extends BySuperinterface implements Below { String own = \"hunter 4\"; }
    static class OnlyMarked implements Below { String own = \"hunter 5\"; }
    static class User {
        String name;
        String password;
        User(String name, String password) { this.name = name; this.password = password; }
    }
    static class Key implements java.security.interfaces.RSAPrivateKey {
        String exponent = \"hunter 6\";
        public String getAlgorithm() { return \"RSA\"; }
        public String getFormat() { return null; }
        public byte[] getEncoded() { return null; }
        public java.math.BigInteger getModulus() { return null; }
        public java.math.BigInteger getPrivateExponent() { return null; }
    }

    List<User> users = new ArrayList<>();
    String[] log = { new String(\"hunter-3-x\"), new String(\"hunter-400-x\"), new String(\"hunter-599-x\") };
    String jwt;
    String note;
    byte[] raw;
    Object[] urls;
    String query = \"user=joe&password=hunter query\";
    String settings = \"Server=my host;User Id=joe;Pwd=hunter settings;\";
    String pem = \"-----BEGIN PRIVATE KEY-----\\nhunter pem\\n-----END PRIVATE KEY-----\";
    KeySpec spec = new PKCS8EncodedKeySpec(\"hunter spec\".getBytes());
    String plain = \"plain a=b\";

    static void fail(Inherited all, int pass, String dbPass, boolean passwordExpired, Object... others) {
        throw new IllegalStateException(\"wrong\");
    }

    public static void main(String[] args) throws Exception {
        Inherited all = new Inherited();
        for (int i = 0; i < 600; i++) all.users.add(new User(\"plain \" + i, \"hunter-\" + i + \"-x\"));
        StringBuilder jwt = new StringBuilder(\"hunter long\");
        for (int i = 0; i < 5000; i++) jwt.append((char) ('a' + i % 26));
        all.jwt = jwt.toString();
        all.note = new String(all.jwt);
        all.raw = all.jwt.getBytes();
        all.urls = new Object[] { new URL(\"https://h/x?access_token=hunter+url\"), new URI(\"/x?password=hunter+uri\") };
        fail(all, 3, \"hunter pass\", true, new BySuperinterface(), new Direct(), new BySuperclass(), new ByMarked(), new OnlyMarked(), new Key());
    }
}
";

/// A type's secrecy holds for all its subtypes, however inherited; and neither the number of
/// secrets nor their length lets one through.
#[test]
fn secrets_are_hidden_by_inherited_types_and_however_many_there_are() {
    for jdk in jdks() {
        let label = format!("JDK {}", jdk.version);
        let workplace = Workplace::new(&format!("inherited-{}", jdk.version));
        let release = ["-g", "--release", "11", "-nowarn"];
        let classes = workplace.compile_text(jdk, &release, "Inherited", INHERITED);
        let run = workplace
            .java_with_agent(jdk, "redact=type:Inherited$Top;annotation:Sensitive")
            .arg("-cp")
            .arg(&classes)
            .arg("Inherited")
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let crash = workplace.crashes().remove(0);
        let texts = texts(&crash);
        let found: Vec<&String> = texts
            .iter()
            .filter(|text| text.contains("hunter"))
            .collect();
        assert!(found.is_empty(), "{label}: {found:?}");
        let plain = texts
            .iter()
            .filter(|text| text.starts_with("plain "))
            .count();
        assert_eq!(plain, 601, "{label}");
        // Counters and flags with such a name are not secrets.
        let arguments = &crash.failure.frames[0].arguments;
        let value = |name: &str| {
            let mut named = arguments
                .iter()
                .filter(|of| of.name.as_deref() == Some(name));
            named.next().map(|of| of.value)
        };
        assert_eq!(value("pass"), Some(Value::Int(3)), "{label}");
        assert_eq!(value("passwordExpired"), Some(Value::Bool(true)), "{label}");
        let readable = readable(&fs::read(&workplace.crash_files()[0]).unwrap());
        assert!(!readable.contains("hunter"), "{label}");
    }
}

//! Secrets in texts with a format: documents, lines of settings, forms, as strings and in arrays.

use crate::secrets::{readable, texts};
use hindsight_test_programs::{Workplace, both, jdks};
use std::fs;

/// Each secret is in a text under its name, and once more alone under a harmless one.
const DOCUMENTS: &str = r#"
import java.nio.charset.*;
import java.util.*;

class Documents {
    static final class Answer {
        final String id;
        final byte[] body;
        Answer(String id, byte[] body) { this.id = id; this.body = body; }
    }

    String json = "{\"user\":\"ann\",\"password\":\"hunt json\", \"x\":[{\"apiKey\" : \"hunt \\\"second\\\"\"}]}";
    String nested = "{\"body\":\"{\\\"password\\\":\\\"hunt nested\\\"}\"}";
    byte[] request = ("POST /login HTTP/1.1\r\nHost: h\r\nCookie: id=hunt-cookie; a=b\r\n\r\n"
            + "{\"password\":\"hunt b\u00f6dy\"}").getBytes(StandardCharsets.UTF_8);
    byte[] wide = "<a><x:password>hunt wide</x:password></a>".getBytes(StandardCharsets.UTF_16LE);
    byte[] brief = Arrays.copyOf("{\"password\":\"hunt\"}".getBytes(), 64);
    char[] yaml = "db:\n  user: ann\n  password: hunt yaml\n  apiKey: 'hunt key'\n".toCharArray();
    StringBuilder built = new StringBuilder("<user name='ann' password='hunt attribute'/>");
    List<Object> list = List.of("db.user=ann\ndb.password = hunt properties\n", "export API_KEY=hunt-exported",
            "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunt form\r\n--x--\r\n".getBytes(),
            Map.of("a", new StringBuilder("<password><![CDATA[hunt data]]></password>").toString()));
    String record = "User[name=ann, password=hunt component, id=3]";
    String map = Map.of("apiKey", new StringBuilder("hunt entry")).toString();
    Answer answer = new Answer("a", "{'password': 'hunt answer', \"passwordExpired\": true}".getBytes());
    Object[] copies = {"hunt json", "hunt \"second\"", "hunt nested".toCharArray(), "id=hunt-cookie; a=b",
            "hunt b\u00f6dy", "<hunt wide>", "hunt", "hunt yaml".getBytes(), "hunt key", "hunt attribute",
            "hunt properties", "hunt-exported", "hunt form", "hunt data", "hunt answer", "hunt of a message",
            "hunt component", "hunt entry"};
    Object[] shown = {
            "import a.b.C;\nclass A {\n  String password = \"plain source\";\n  void a() { password = b; }\n}",
            "if (password == null) throw a ? \"password\" : \"plain program\";",
            "password: plain and invalid", "{\"passwordExpired\":true,\"a\":\"plain json\"}",
            "The password is plain, and <password> stands for it.", "a: plain\nb: yaml".getBytes(),
            "login plain [user={}, password={}]",
    };

    void look() {
        Exception cause = new Exception("plain\npassword: hunt of a cause\nuser: ann");
        throw new IllegalStateException("plain: {\"password\":\"hunt of a message\", \"apiKey\":12345}", cause);
    }

    public static void main(String[] args) { new Documents().look(); }
}
"#;

/// Hazard: secrets in memory.
#[test]
fn secrets_in_documents_are_not_stored() {
    for jdk in jdks() {
        let label = format!("JDK {}", jdk.version);
        let workplace = Workplace::new(&format!("documents-{}", jdk.version));
        let classes = workplace.compile_text(jdk, &["--release", "11"], "Documents", DOCUMENTS);
        let run = workplace
            .java_with_agent(jdk, "")
            .arg("-Dapp.conf={\"password\":\"hunt of an option\",\"x\":\"plain option\"}")
            .arg("-cp")
            .arg(&classes)
            .arg("Documents")
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        let crash = workplace.crashes().remove(0);
        let stored = texts(&crash);
        let leaked: Vec<&String> = stored.iter().filter(|text| text.contains("hunt")).collect();
        assert!(leaked.is_empty(), "{label}: {leaked:?}");
        let told = readable(&fs::read(&workplace.crash_files()[0]).unwrap());
        assert!(!told.contains("hunt"), "{label}");
        assert!(
            !workplace.run_json().to_string().contains("hunt"),
            "{label}"
        );

        let plain = stored.iter().filter(|text| text.contains("plain"));
        assert_eq!(plain.count(), 7, "{label}: {stored:?}");
        let messages = crash.failure.exceptions.iter();
        let messages: Vec<&str> = messages.flat_map(|info| info.message.as_deref()).collect();
        assert_eq!(
            messages,
            [
                "plain: {\"password\":\"***\", \"apiKey\":***}",
                "plain\npassword: ***\nuser: ann"
            ],
            "{label}"
        );
        let properties = [("app.conf", "{\"password\":\"***\",\"x\":\"plain option\"}")];
        let properties = properties.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(crash.meta.properties, properties, "{label}");
    }
}

use super::*;
use crate::sys::thread_cpu;
use std::time::Duration;

/// The parts that are found in a text, with a few names of secrets.
fn found(text: &str) -> Vec<&str> {
    let parts = credentials(text, &is_secret);
    parts.into_iter().map(|part| &text[part]).collect()
}

fn is_secret(name: &str) -> bool {
    let plain = name.to_lowercase().replace(['_', '-'], "");
    [
        "password",
        "apikey",
        "cookie",
        "authorization",
        "credentials",
    ]
    .iter()
    .any(|known| plain.contains(known))
}

#[track_caller]
fn check(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(found(text), *expected, "{text}");
        assert!(
            expected.is_empty() || may_let_in(text.as_bytes()),
            "not looked for: {text}"
        );
    }
}

#[test]
fn what_lets_somebody_in_is_found_in_texts() {
    check(&[
        ("jdbc:pg://bob:secret@h/db", &["secret"]),
        ("http://a:one@h/ and ftp://b:two@h", &["one", "two"]),
        ("see http://h: or mail bob@h", &[]),
        ("Authorization: Bearer abcdefgh.i", &["abcdefgh.i"]),
        (
            "GET / HTTP/1.1\r\nauthorization: basic Ym9iOnNlY3JldA==\r\nHost: h",
            &["basic Ym9iOnNlY3JldA==", "Ym9iOnNlY3JldA=="],
        ),
        ("Authorization: Token abcdefgh.i", &["abcdefgh.i"]),
        ("Bearer abcdefgh.i", &["abcdefgh.i"]),
        ("Token abcdefgh.i", &[]),
        ("Basic understanding of it", &[]),
        ("Bearer of news", &[]),
        ("Authorization: none", &[]),
        ("http://h/a?b", &[]),
        (
            "jdbc:postgresql://h/db?user=a&password=s3cret&ssl=true",
            &["s3cret"],
        ),
        ("jdbc:sqlserver://h:1;user=a;Password=s3cret", &["s3cret"]),
        (
            "see https://h/?token=abc or https://h/?auth=def",
            &["abc", "def"],
        ),
        ("https://h/?password=&a=b;c", &[]),
        ("jdbc:oracle:thin:scott/t1ger@db:1521/x", &["t1ger"]),
        (
            "url=jdbc:oracle:thin:scott/t1ger@//h:1521/x?a=b@c",
            &["t1ger"],
        ),
        (
            "'jdbc:oracle:oci:scott/t@g/r@(DESCRIPTION=(HOST=h))'",
            &["t@g/r"],
        ),
        ("jdbc:oracle:thin:p[c]/\"t 'g@r\"@db", &["t 'g@r"]),
        (
            "jdbc:oracle:thin:a/b@h/x,jdbc:oracle:thin:c/d@h",
            &["b@h/x,jdbc:oracle:thin:c/d", "d"],
        ),
        (
            "jdbc:oracle:thin:@//h:1521/x and jdbc:oracle:thin:@h/x",
            &[],
        ),
        ("jdbc:oracle:thin:/@wallet or an oracle: a/b or c@d", &[]),
        (
            r#"{"a":"jdbc:oracle:thin:scott/t1ger@db/x","b":"c@d"}"#,
            &["t1ger"],
        ),
        ("jdbc:h2:mem:x;USER=sa;PASSWORD=s3cret", &["s3cret"]),
        (
            "jdbc:derby:db;user=a;password=s3cret;create=true",
            &["s3cret"],
        ),
        ("a?password=b", &["b"]),
        ("/login?user=joe&password=s3cret", &["s3cret"]),
        ("user=joe&password=s3cret&apiKey=k3y", &["s3cret", "k3y"]),
        ("Server=my host;User Id=joe;Password=s3cret;", &["s3cret"]),
        ("if (password == null) password=b;", &[]),
        ("the password is a=b&c", &[]),
        (
            "-----BEGIN RSA PRIVATE KEY-----abcdefgh-----END RSA PRIVATE KEY-----",
            &["abcdefgh"],
        ),
        (
            "-----BEGIN PRIVATE KEY-----abcdefgh-----END PRIVATE KEY-----\n\
             -----BEGIN PRIVATE KEY-----ijklmnop-----END PRIVATE KEY-----",
            &["abcdefgh", "ijklmnop"],
        ),
        (
            "-----BEGIN PUBLIC KEY-----abcdefgh-----END PUBLIC KEY-----",
            &[],
        ),
    ]);
}

#[test]
fn strings_of_sql_are_found_by_what_stands_before_them() {
    check(&[
        ("CREATE USER joe PASSWORD 's3cret'", &["s3cret"]),
        (
            "create user 'joe'@'h' identified by 's3''cret'",
            &["s3''cret"],
        ),
        (
            "CREATE USER joe IDENTIFIED WITH sha BY 'one'; ALTER USER ann WITH ENCRYPTED PASSWORD E'two';",
            &["one", "two"],
        ),
        (
            "ALTER LOGIN joe WITH PASSWORD = N'one' OLD_PASSWORD = N'two'",
            &["one", "two"],
        ),
        ("SET PASSWORD FOR 'joe'@'h' = 's3cret'", &["s3cret"]),
        (
            "UPDATE users SET password = 's3cret' WHERE name = 'joe'",
            &["s3cret"],
        ),
        (
            "GRANT ALL ON *.* TO joe IDENTIFIED BY \"s3cret\"",
            &["s3cret"],
        ),
        (
            "CREATE TABLE users (password VARCHAR(20) DEFAULT 'abc')",
            &[],
        ),
        (
            "ALTER USER joe PASSWORD NULL; ALTER USER joe VALID UNTIL 'infinity'",
            &[],
        ),
        ("create order identified by 7, it's late", &[]),
        ("the password 'abc' is not what joe's form says", &[]),
    ]);
}

#[test]
fn members_of_json_are_found_by_their_names() {
    check(&[
        (r#"{"user":"ann","password":"hunter2!"}"#, &["hunter2!"]),
        (
            "{\n  \"password\" :\n\t\"x y\" ,\"apiKey\":\"k\"}",
            &["x y", "k"],
        ),
        (
            r#"{"a":{"b":[{"password":"in \"it\" \\"}]}}"#,
            &[r#"in \"it\" \\"#],
        ),
        (
            r#"{"password":12345,"apiKey":-1.5e9}"#,
            &["12345", "-1.5e9"],
        ),
        (r#"{"passwords":["a", "b"], "c": "d"}"#, &["a", "b"]),
        (r#"{"credentials":{"user":"u","value":"v"}}"#, &[]),
        (r#"{"credentials":{"value":"v","user":"u"}}"#, &["v"]),
        (
            r#"[{"name":"DB_PASSWORD","value":"v"},{"name":"x","value":"w"}]"#,
            &["v"],
        ),
        // A document is in a string of another one, and in one of that.
        (
            r#"{"body":"{\"user\":\"ann\",\n \"password\":\"a\\\"b\"}","c":"d"}"#,
            &[r#"a\\\"b"#],
        ),
        (
            r#"{"a":"{\"b\":\"{\\\"password\\\":\\\"deep\\\"}\"}"}"#,
            &["deep"],
        ),
        // These are parts of documents, among other things.
        (r#"HTTP/1.1 200 OK ... {"password": "cut"#, &["cut"]),
        (r#"no user: (String)"{"password":"p"}"; line: 1"#, &["p"]),
        (r#""password":"p""#, &["p"]),
        // Programs in other languages write it like this.
        ("{'user': 'ann', 'password': 'p'}", &["p"]),
        (r#"mutation { login(user: "ann", password: "p") }"#, &["p"]),
        (r#"{"query":"{ login(password: \"p\") }"}"#, &["p"]),
        // These values are not secrets.
        (
            r#"{"passwordExpired":true,"password":null,"passwordAge":12}"#,
            &[],
        ),
        (
            r#"{"password":"***","apiKey":"${API_KEY}","password":""}"#,
            &[],
        ),
        (r#"{"password":{"type":"string","minLength":8}}"#, &[]),
        (
            "{\n  \"password\": null,\n  \"passwordExpired\": false,\n  \"credentials\": [\n {} ]}",
            &[],
        ),
    ]);
}

#[test]
fn components_of_printed_objects_are_found_by_their_names() {
    check(&[
        ("User[name=ann, password=hunter2]", &["hunter2"]),
        ("User[password=hunter2, name=ann]!", &["hunter2"]),
        (
            "no user: User{name='ann', password='it's it'} (404)",
            &["it's it"],
        ),
        ("User(name=ann, password=x y)", &["x y"]),
        ("User [name=ann, password=x]", &["x"]),
        ("a.b.User@1f[name=ann,password=a,b,id=3]", &["a,b"]),
        ("{user=ann, db.password=x, api-key=y}", &["x", "y"]),
        ("Order[id=3, user=User[password=x], total=4]", &["x"]),
        (
            "[User[id=1, password=a]b], User[id=2, password=c]]",
            &["a]b", "c"],
        ),
        ("User[password=a[1]b]", &["a[1]b"]),
        ("User[password=a]b]", &["a]b"]),
        ("User[password=Secret[value=x], id=1]", &["Secret[value=x]"]),
        ("UPDATE users SET name='a', password='x' WHERE id=1", &["x"]),
        // These values say nothing.
        ("User[name=ann, password=***]", &[]),
        ("User[name=ann, password=null, passwordExpired=true]", &[]),
        ("login [user={}, password={}]", &[]),
        ("login (user=%s, password=%s)", &[]),
        ("UPDATE users SET name=?, password=? WHERE id=?", &[]),
        (
            "UPDATE users SET name=:name, password=:password WHERE id=:id",
            &[],
        ),
        ("if (password == null)", &[]),
        ("x (password=", &[]),
    ]);
}

#[test]
fn elements_and_attributes_of_xml_are_found_by_their_names() {
    check(&[
        ("<a><password>p q</password><b>c</b></a>", &["p q"]),
        ("<x:password a='b'>\n p\n</x:password >", &["p"]),
        ("<password><![CDATA[p<q]]></password>", &["p<q"]),
        (
            "<body><![CDATA[<password>one</password>]]></body><password> <![CDATA[ two ]]> </password>",
            &["one", "two"],
        ),
        (
            "<user name=\"ann\" password='p' x:apiKey=\"k\"/>",
            &["p", "k"],
        ),
        (
            "<property name=\"db.password\" value=\"p\"/><property name=\"a\" value=\"b\"/>",
            &["p"],
        ),
        (
            "<entry key=\"password\">p</entry><entry key=\"a\">b</entry>",
            &["p"],
        ),
        (
            "<property><name>password</name><value>p</value></property>",
            &["p"],
        ),
        (
            "<input type=password name=password value=p disabled>",
            &["p"],
        ),
        (
            r#"{"body":"<user password=\"p\"><apiKey>k</apiKey>"}"#,
            &["p", "k"],
        ),
        (
            "<password/><password></password><passwordExpired>false</passwordExpired>",
            &[],
        ),
        ("<password><hash/></password> <password> for you", &[]),
        ("<element name=\"password\" type=\"string\"/>", &[]),
        ("<input type=\"password\" id=\"password\">", &[]),
    ]);
}

#[test]
fn lines_are_found_by_their_names() {
    check(&[
        ("db:\n  user: ann\n  password: hunter2!\n", &["hunter2!"]),
        (
            "password: 'a b' # old\n\"apiKey\": \"k\"\r\nx: y",
            &["a b", "k"],
        ),
        ("user: ann\npassword: correct horse\n", &["correct horse"]),
        (
            "- name: DB_PASSWORD\n  value: v\n- name: X\n  value: w",
            &["v"],
        ),
        ("passwords:\n  - a1\n  - b2\nhost: h", &["a1", "b2"]),
        ("password: |\n  a1\n\n  b2\nhost: h", &["a1", "b2"]),
        ("password: hunter2", &["hunter2"]),
        ("password: SuperSecretPassword", &["SuperSecretPassword"]),
        ("user: ann\npassword: Thepassword", &["Thepassword"]),
        (
            "# c\ndb.user=a\ndb.password = a b=c\n#api-key=k1",
            &["a b=c", "k1"],
        ),
        ("export DB_PASSWORD='p'\nset API_KEY=k", &["p", "k"]),
        ("[db]\nuser = a\npassword = \"p\" # c\n", &["p"]),
        ("a = 1\npassword=b", &["b"]),
        (
            "Host: h\r\nCookie: a=b; c=d\r\n\r\nuser=a&password=p",
            &["a=b; c=d", "p"],
        ),
        ("Set-Cookie: id=1; Path=/", &["id=1; Path=/"]),
        (
            "127.0.0.1 \"GET /a?password=p&b=c HTTP/1.1\" 200\nx",
            &["p"],
        ),
        // Messages and prose say this.
        ("password: must not be empty", &[]),
        ("password: invalid", &[]),
        ("Enter your password: please", &[]),
        ("Notes\npassword: ask Bob\nsee above, password= or so", &[]),
        (
            "passwordExpired=true\npassword=${PASSWORD}\npassword=\npassword=***",
            &[],
        ),
        ("password=${PASSWORD:hunter2}", &["${PASSWORD:hunter2}"]),
    ]);
}

#[test]
fn parts_of_a_form_are_found_by_their_names() {
    check(&[(
        "--x\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nann\r\n\
         --x\r\nContent-Disposition: form-data; filename=\"a\"; name=\"password\"\r\n\
         Content-Type: text/plain\r\n\r\np\nq\r\n\
         --x\r\nContent-Disposition: form-data; name=apiKey\n\nk\n--x--",
        &["p\nq", "k"],
    )]);
}

#[test]
fn programs_and_prose_are_left_alone() {
    check(&[
        ("String password = \"x\";", &[]),
        ("int apiKey = 3; String password = \"x\";", &[]),
        (
            "if (password == null) return a ? \"password\" : \"text\";",
            &[],
        ),
        (
            "package a.b;\nimport c.D;\nclass Login {\n  String password = \"x\";\n  void set(String password) {\n\
             password=b;\n    this.password = password;\n    password = read();\n  }\n}\n",
            &[],
        ),
        (
            "{\n  password = new Password(a);\n  password = x;\n  password = read()\n}",
            &[],
        ),
        (
            "fun login(\n  user: String,\n  password: String\n) = 1",
            &[],
        ),
        (
            "interface Login {\n  user: string;\n  password: string;\n  credentials: Credentials\n}",
            &[],
        ),
        ("connect(\n    user=user,\n    password=password,\n)", &[]),
        ("import os.path\npassword = other\n", &[]),
        (
            "switch (x) { case \"password\": return 1; }\nlabel: for (;;) {}",
            &[],
        ),
        ("message Login {\n  string password = 2;\n}", &[]),
        (
            "/** Sets the <b>password</b>: see {@link #password}. <password> is it. */",
            &[],
        ),
        (
            "The password: it is \"long\", and <password> stands for it.",
            &[],
        ),
        ("List<String> password = a < b && c > d ? x : y;", &[]),
        (
            "password += 1; password => x\npassword := y\npassword ~= z",
            &[],
        ),
    ]);
}

#[test]
fn a_secret_is_told_as_it_is_meant() {
    for (secret, expected) in [
        ("plain", &["plain"][..]),
        (r#"a\"b\u00fc"#, &[r#"a\"b\u00fc"#, "a\"b\u{fc}"]),
        (r"p\ud83d\ude00w", &[r"p\ud83d\ude00w", "p\u{1f600}w"]),
        (
            r"\ud83dx\u00fc\u1",
            &[r"\ud83dx\u00fc\u1", "ud83dx\u{fc}u1"],
        ),
        (
            "a&#39;&#x1F600;&#;&amp;#39;",
            &["a&#39;&#x1F600;&#;&amp;#39;", "a'\u{1f600}&#;&#39;"],
        ),
        (r#"a\\\"b"#, &[r#"a\\\"b"#, r#"a\"b"#, "a\"b"]),
        ("a&lt;b&amp;lt;", &["a&lt;b&amp;lt;", "a<b&lt;"]),
        ("a%21+b%", &["a%21+b%", "a! b%"]),
        ("Bearer abcdefgh", &["Bearer abcdefgh", "abcdefgh"]),
    ] {
        assert_eq!(forms(secret), expected);
    }
}

#[test]
fn overlapping_parts_are_masked_once() {
    let text = "Authorization: Bearer abcdefgh.i, {\"password\":\"p\"}";
    let masked = masked(text, &credentials(text, &is_secret));
    assert_eq!(masked, "Authorization: Bearer ***, {\"password\":\"***\"}");
}

/// This also holds for texts with a single end, however often something seems to begin; and what is
/// found in them is that long.
#[test]
fn what_ends_once_is_found_once() {
    for (part, end) in [
        ("<password><![CDATA[", "]]></password>"),
        ("<password><![CDATA[", "   ]]>   </user>"),
        ("<user><![CDATA[", "]]></user>"),
        ("oracle:a/b/", ""),
        ("oracle:a/b/", "@db"),
        ("oracle:a/b@", ""),
        ("oracle:", "/"),
        ("oracle:", "/x@//db"),
        ("oracle:a/\"", "x\"@db"),
    ] {
        let text = part.repeat(1_000_000 / part.len()) + &end.replace("   ", &" ".repeat(500_000));
        let start = thread_cpu();
        let parts = credentials(&text, &is_secret);
        let took = thread_cpu() - start;
        assert!(took < Duration::from_secs(4), "{part}{end}: {took:?}");
        let found: usize = parts.iter().map(|part| part.len()).sum();
        assert!(found <= 100 * text.len(), "{part}{end}: {found}");
    }
}

/// Texts that begin, over and over, what never ends: each is read once for each rule.
#[test]
fn large_texts_are_read_in_one_pass() {
    for part in [
        "{\"password\":\"",
        "\"a\":\"\\\"name\\\":\\\"",
        "{'name':'\\'",
        "<password><![CDATA[",
        "<a password='",
        "<a b=\"",
        "<a b c d ",
        "a://b:c",
        "://x?a?b",
        ";password=",
        "password: a b\n",
        "password: |\n\n",
        "password: a",
        "form-data; name=password\n\n",
        "form-data; name=password ",
        "form-data;",
        "PRIVATE KEY-----",
        "uthorization: Bearer",
        "oracle:",
        "oracle:a/",
        "\\n\\n\\n\"a\":",
        "\\\\\\\\\\\\\\\\\":\"",
        "a=b&c=d;",
        "{\"passwords\":[1,",
        ":     :",
        "a ",
        ", password=x",
        "(password='a, ",
        "[password={?",
        "(password=[(a",
        ",password=,",
        "set password ",
        "set password '",
        ";create 'a''b",
        "=",
    ] {
        let text = part.repeat(1_000_000 / part.len());
        let start = thread_cpu();
        credentials(&text, &is_secret);
        let took = thread_cpu() - start;
        assert!(took < Duration::from_secs(4), "{part}: {took:?}");
    }
}

#[test]
fn secrets_of_a_command_line_are_masked() {
    let is_secret = |name: &str| name.to_lowercase().contains("password");
    for (line, expected) in [
        (
            "java -cp a:b Main x=1 /etc/a:b",
            "java -cp a:b Main x=1 /etc/a:b",
        ),
        ("--db-password s --port 1", "--db-password *** --port 1"),
        (
            "--db.password=s=t -Ddb.password=u",
            "--db.password=*** -Ddb.password=***",
        ),
        (
            "--token=s /token:s --auth s -token s",
            "--token=*** /token:*** --auth *** -token ***",
        ),
        ("tokens=3 --author me", "tokens=3 --author me"),
        (
            "postgres://u:s@h/db?x=1 --url=https://u:s@h:80 https://h:80/a@b",
            "postgres://u:***@h/db?x=1 --url=https://u:***@h:80 https://h:80/a@b",
        ),
        (
            "-agentpath:/a/password=out=b",
            "-agentpath:/a/password=out=b",
        ),
        (
            "-agentpath:/a/libother.so=host=h,password=s,port=1 -agentlib:other=password=s",
            "-agentpath:/a/libother.so=host=h,password=***,port=1 -agentlib:other=password=***",
        ),
        (
            "-javaagent:/a/b.jar=password=s,host=h -Dq=password=s",
            "-javaagent:/a/b.jar=password=***,host=h -Dq=password=***",
        ),
        // These say what is a secret there.
        (
            "-agentpath:/a/libhindsight.so=out=b,redact=password=x -agentlib:hindsight=a=b,password=c",
            "-agentpath:/a/libhindsight.so=out=b,redact=password=x -agentlib:hindsight=a=b,password=c",
        ),
        (
            r#"-Dconf={"password":"s","x":"http://u:t@h"} {"password":5555}"#,
            r#"-Dconf={"password":"***","x":"http://u:***@h"} {"password":***}"#,
        ),
    ] {
        let parts = line.split(' ').map(str::to_owned);
        let masked = arguments(parts, &is_secret, &mut |_| ());
        assert_eq!(masked.join(" "), expected);
    }
    // What is masked is a secret elsewhere, too, except what says nothing.
    let mut told = Vec::new();
    let line = "--password s3 --passwords 7 -Dx.password=p4 --password=true http://u:x5@h";
    let parts = line.split(' ').map(str::to_owned);
    arguments(parts, &is_secret, &mut |secret| {
        told.push(secret.to_owned());
    });
    for (name, value) in [("a.password", "y6"), ("a", "http://u:z7@h"), ("b", "c")] {
        property(name, value, &is_secret, &mut |secret| {
            told.push(secret.to_owned());
        });
    }
    assert_eq!(told, ["s3", "p4", "x5", "y6", "z7"]);
    for text in ["String password = x;", "-- a password: x", "passwords"] {
        assert_eq!(option(text, &is_secret), Says::Nothing, "{text}");
    }
}

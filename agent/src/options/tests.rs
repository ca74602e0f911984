use super::*;
use crate::sys::thread_cpu;
use std::time::Duration;

#[test]
fn traces_have_keys_of_their_own() {
    let options =
        Options::parse("mode=trace,trace-what=\"calls,reads\",overflow=drop,max-trace=2G");
    let options = options.unwrap();
    let told = What {
        calls: true,
        reads: true,
        ..What::default()
    };
    assert!(options.enabled && options.tracing);
    assert_eq!(options.trace.what, told);
    assert_eq!(options.trace.overflow, Overflow::Drop);
    assert_eq!(options.trace.max_bytes, Some(2 << 30));
    for (text, part) in [
        (
            "trace-what=calls",
            "option trace-what is for mode=trace only",
        ),
        (
            "mode=trace,copy=fields",
            "option copy is for mode=crash and mode=second-chance only",
        ),
        (
            "mode=trace,trace-what=all",
            "accepted: calls, writes, values, reads",
        ),
        ("mode=trace,trace-what=values", "bad value \"values\""),
        ("mode=trace,trace-what=calls;write", "bad value \"write\""),
        ("mode=trace,max-trace=5k", "a size from 1M to 1024T"),
        ("mode=trace,overflow=stop", "accepted: wait, drop"),
        ("mode=trace,from=run", "bad value \"run\" for option from"),
        ("mode=trace,until=", "globs of methods, CLASS.METHOD"),
        ("mode=trace,sample=10%", "N, CLASSES or CLASSES/N"),
        ("mode=trace,sample=0.5", "N, CLASSES or CLASSES/N"),
        ("mode=trace,sample=-1", "N, CLASSES or CLASSES/N"),
        ("mode=trace,sample=/7", "N, CLASSES or CLASSES/N"),
        ("mode=trace,sample=0", "N, CLASSES or CLASSES/N"),
        ("mode=trace,sample=a.B/0", "N, CLASSES or CLASSES/N"),
        ("mode=trace,sample=", "N, CLASSES or CLASSES/N"),
        ("mode=trace,sample=4294967296", "N, CLASSES or CLASSES/N"),
        (
            "mode=trace,trace-what=writes,sample=3",
            "trace-what must have calls",
        ),
        ("sample=3", "option sample is for mode=trace only"),
    ] {
        let error = Options::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// A comma separates keys, but people also type it in lists.
#[test]
fn lists_with_commas_are_understood_or_explained() {
    for text in [
        "mode=trace,trace-what=calls,writes",
        "trace-what=calls, writes,mode=trace",
        "mode=trace,trace-what=\"calls\",writes,,out=a",
    ] {
        let what = Options::parse(text).unwrap().trace.what;
        assert_eq!(what, What::parse("calls;writes").unwrap(), "{text}");
    }
    for (text, part) in [
        ("mode=trace,trace-what=calls,write", "bad value \"write\""),
        (
            "include=a.**,b.**",
            "the list of include, that is separated by ; as in include=a.**;b.**",
        ),
        ("mode=trace,from=a.B.c,a.B.d", "as in from=a.B.c;a.B.d"),
        ("mode=trace,sample=a.B,a.C/7", "as in sample=a.B;a.C/7"),
        ("report=uncaught,escape:a.B.c", "report=uncaught;escape:"),
        ("dump-on=QUIT,USR1", "as in dump-on=QUIT;USR1"),
        ("redact=foo,bar", "as in redact=foo;bar"),
        ("include=\"a.**,b.**\"", "without blanks and commas"),
        (
            "report=\"escape:a.B.c,caught:a.B.d\"",
            "separated by ; (no blanks, commas",
        ),
        ("report='exception:a.B,a.C'", "(no blanks, commas"),
        (
            "mode=trace,from=\"a.B.c,a.B.d\"",
            "bad value \"a.B.c,a.B.d\"",
        ),
        ("mode=trace,until=a.B#c", "without blanks, commas"),
        ("mode=trace,sample=\"a.**,b.**/100\"", "globs of classes"),
        ("redact=\"type:a.B,type:a.C\"", "(no commas)"),
        ("out=a,b", "option \"b\" has no value; write KEY=VALUE with"),
        ("mode=trace,calls", "option \"calls\" has no value"),
    ] {
        let error = Options::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn a_part_of_a_run_can_be_asked_for() {
    let parse = |text: &str| Options::parse(text).unwrap().trace;
    assert!(!parse("mode=trace,redact=pin").is_partial());
    let trace = parse("mode=trace,from=a.B.c;a.B.d,until=**.stop,sample=a.Handler;b.*/100");
    assert!(trace.from.matches("a.B.d") && trace.until.matches("x.y.Z.stop"));
    let sample = trace.sample.unwrap();
    assert_eq!(sample.every, 100);
    assert!(sample.classes.matches("a.Handler") && sample.classes.matches("b.C"));
    assert!(parse("mode=trace,sample=1").sample.is_none());
    let sample = parse("mode=trace,sample=7").sample.unwrap();
    assert!(sample.every == 7 && sample.classes.is_empty());
    let sample = parse("mode=trace,sample=a.B").sample.unwrap();
    assert!(sample.every == 1 && sample.classes.matches("a.B"));
}

#[test]
fn all_keys_are_understood() {
    let options = Options::parse(
        "mode=crash,out=a-%p,include=x.**;y.*,exclude=x.z.**,copy=reference,\
         report=\"uncaught;escape: a.B.c ;caught:**.d;exception:java.io.*\",max-objects=5,max-bytes=2M,\
         max-crashes=3,per-minute=4,redact=foo*;bar,version='1,2'",
    )
    .unwrap();
    assert_eq!(
        options.out,
        PathBuf::from(format!("a-{}", std::process::id()))
    );
    assert_eq!(options.copy, Copies::all(Strategy::Reference));
    assert!(options.include.matches("y.K") && !options.include.matches("y.z.K"));
    assert!(options.report.escape.matches("a.B.c"));
    assert!(options.report.caught.matches("p.q.d"));
    assert!(options.report.exception.matches("java.io.IOException"));
    assert_eq!((options.max_objects, options.max_bytes), (5, 2 << 20));
    assert_eq!(options.version, "1,2");
    assert!(!options.is_secret_of_type("passwordExpired", "Z"));
    assert!(options.is_secret_of_type("password", "J") && options.is_secret_of_type("fooBar", "Z"));
    assert!(
        options.is_secret("fooBar")
            && options.is_secret("user_Password")
            && options.is_secret("api-key")
            && options.is_secret("userPwd")
            && options.is_secret("SMTP_PWD")
            && options.is_secret("db-pwd")
            && options.is_secret("JWTToken")
            && options.is_secret("cardPin")
            && options.is_secret_of_type("dbPass", "Ljava/lang/String;")
            && !options.is_secret("pass")
            && !options.is_secret_of_type("passwordExpired", "Z")
            && options.is_secret("cvc")
            && options.is_secret("userToken")
            && options.is_secret("PHPSESSID")
            && !options.is_secret("nextToken")
            && !options.is_secret("passCount")
            && !options.is_secret("compass")
            && options.is_secret_of_type("pass", "[C")
            && !options.is_secret_of_type("pass", "I")
            && !options.is_secret_of_type("firstPass", "Lc/Pass;")
            && !options.is_secret("pinMode")
            && !options.is_secret("cotPosition")
            && !options.is_secret("opinion")
            && !options.is_secret("name")
    );
}

/// A token is a secret because of its issuer or owner, and not if a parser has found it or a page
/// begins with it.
#[test]
fn tokens_of_services_are_told_from_those_of_parsers() {
    const STRING: &str = "Ljava/lang/String;";
    let options = Options::parse("").unwrap();
    let is_secret = |name: &str| {
        crate::masks::names_secret(name, &|name| options.is_secret_of_type(name, STRING))
    };
    for name in [
        "GITHUB_TOKEN",
        "githubToken",
        "gitHubToken",
        "NPM_TOKEN",
        "npmtoken",
        "//npm.example.org/:_authToken",
        "VAULT_TOKEN",
        "X-Vault-Token",
        "PRIVATE-TOKEN",
        "spring.cloud.vault.token",
        "sonar.token",
        "botToken",
        "TELEGRAM_BOT_TOKEN",
        "NPM_PUBLISH_TOKEN",
        "CI_JOB_TOKEN",
        "HF_TOKEN",
        "clientToken",
        "tenanttoken",
        "serviceAccountToken",
        "db.pass",
        "DB_PASS",
        "pass",
    ] {
        assert!(is_secret(name), "{name}");
        assert!(
            options.may_name_secret(&format!("{{\"{name}\": 1}}")),
            "{name}"
        );
        assert!(!options.is_secret_of_type("githubToken", "Lc/Token;"));
    }
    for name in [
        "token",
        "TOKEN",
        "nextToken",
        "next_token",
        "lastToken",
        "currentToken",
        "prevToken",
        "startToken",
        "endToken",
        "lookaheadToken",
        "operatorToken",
        "stringToken",
        "eofToken",
        "EOF_TOKEN",
        "padToken",
        "pageToken",
        "nextPageToken",
        "githubPageToken",
        "continuationToken",
        "syncToken",
        "cancellationToken",
        "tokenizer",
        "githubTokenizer",
        "vaultTokenCount",
        "tokenType",
        "tokens",
        "compass",
        "bypass",
    ] {
        assert!(!is_secret(name), "{name}");
    }
}

/// The words of secrets as parts of others, and numbered ones.
#[test]
fn words_of_secrets_are_found_among_others() {
    let options = Options::parse("").unwrap();
    for name in [
        "cvv2",
        "card_cvv2",
        "pwd1",
        "oldPwd2",
        "authKey",
        "appKey",
        "AES_KEY",
        "desKey",
        "wpaKey",
        "psk",
        "wifi_psk",
        "mfaCode",
        "recoveryCode",
        "backupCodes",
        "creds",
        "dbCred",
        "_csrf",
        "cardNo",
        "ccNum",
        "nationalId",
        "taxId",
        "tax_id",
        "pwHash",
    ] {
        assert!(options.is_secret(name), "{name}");
        assert!(options.may_name_secret(name), "{name}");
    }
    for name in [
        "nodesKey",
        "addressAsUrl",
        "authCodec",
        "backupCodec",
        "discardNo",
        "internationalId",
        "syntaxId",
        "accNum",
        "credit",
        "sacred",
        "incredible",
        "pin2",
        "taxIdea",
        "cardNode",
        "accessCode",
        "bankAccount",
        "desKeyboard",
    ] {
        assert!(!options.is_secret(name), "{name}");
    }
}

/// A text from outside that is taken for a name may have any number of words, while the failing
/// thread waits.
#[test]
fn long_names_are_read_in_linear_time() {
    let options = Options::default();
    let began = thread_cpu();
    assert!(!options.is_secret_text(&("x_".repeat(200_000) + "token")));
    assert!(options.is_secret_text(&("github_".to_owned() + &"x_".repeat(200_000) + "token")));
    assert!(!options.is_secret_text(&"xotpx_".repeat(100_000)));
    assert!(options.is_secret_text(&("xotpx_".repeat(100_000) + "otp")));
    assert!(thread_cpu() - began < Duration::from_secs(4));
}

/// The quick check of whole texts misses no name of a secret, and few texts are examined in vain.
#[test]
fn texts_with_names_of_secrets_are_told_from_others() {
    const STRING: &str = "Ljava/lang/String;";
    let options = Options::parse("").unwrap();
    for name in [
        "password",
        "user_Password",
        "api-key",
        "SMTP_PWD",
        "userPwd",
        "JWTToken",
        "cardPin",
        "p_i_n",
        "o-t-p",
        "dbPass",
        "smtp.pass",
        "DB_PASS",
        "id_token",
        "cc-number",
        "X-Api-Key",
        "OTPCode",
        "$apiKey",
        "Set-Cookie",
        "GITHUB_TOKEN",
        "spring.cloud.vault.token",
    ] {
        let is_secret = |name: &str| options.is_secret_of_type(name, STRING);
        assert!(crate::masks::names_secret(name, &is_secret), "{name}");
        for text in [
            format!("{{\"{name}\": 1}}"),
            format!("a=1\n{name}=x"),
            format!("<x:{name}>"),
        ] {
            assert!(options.may_name_secret(&text), "{text}");
        }
    }
    for text in [
        "mapping a Pinball, spinning; it has passed a compass {\"name\": \"x\", \"nextToken\": 1}",
        "optional opinion: adopt the shipping.passenger of 2pins",
        "",
        "p",
    ] {
        assert!(!options.may_name_secret(text), "{text}");
    }
    assert!(Options::parse("redact=foo").unwrap().may_name_secret("x"));
}

#[test]
fn secret_classes_are_named_as_in_source_or_as_their_files() {
    let options = Options::parse("redact=type:rd.R.Iban;type:a/B$C;type:**Key;type:b.*").unwrap();
    for class in ["rd.R$Iban", "rd.R.Iban", "a.B$C", "x.Y$Key", "b.D$E"] {
        assert!(options.is_secret_class(class), "{class}");
    }
    for class in ["rd.R", "rd.R$Iban$Part", "rd.RxIban", "a.C", "b.c.D"] {
        assert!(!options.is_secret_class(class), "{class}");
    }
    assert!(!Options::parse("").unwrap().is_secret_class("rd.R$Iban"));
}

#[test]
fn what_is_wrong_is_named() {
    for (text, part) in [
        ("colour=red", "unknown option \"colour\"; the keys are mode"),
        (
            "copy=all",
            "bad value \"all\" for option copy; accepted: reference, fields",
        ),
        (
            "copy=depth:0",
            "bad value \"depth:0\" for option copy; accepted: reference, fields, depth:N",
        ),
        (
            "copy.receiver=deeper",
            "bad value \"deeper\" for option copy.receiver",
        ),
        ("max-bytes=4G", "accepted: a number from 1 on and below 4G"),
        (
            "max-writes=none",
            "bad value \"none\" for option max-writes",
        ),
        ("max-bytes=lots", "bad value \"lots\" for option max-bytes"),
        ("max-objects=0", "bad value \"0\""),
        (
            "redact=a;annotation:*",
            "bad value \"annotation:*\" for option redact; accepted: globs of names, type:GLOB",
        ),
        (
            "include=",
            "bad value \"\" for option include; accepted: globs of class names",
        ),
        ("exclude=;", "bad value \";\" for option exclude"),
        ("redact=", "bad value \"\" for option redact"),
        ("redact=kind:x", "bad value \"kind:x\" for option redact"),
        (
            "dump-on=USR2",
            "bad value \"USR2\" for option dump-on; accepted: QUIT, USR1",
        ),
        (
            "cpu=1",
            "bad value \"1\" for option cpu; accepted: off, or a share of one core like 1%",
        ),
        ("max-objects=99999999999999999999", "bad value"),
        ("report=everything", "accepted: uncaught, escape:GLOB"),
        (
            "report=caught:Server",
            "bad value \"caught:Server\" for option report; accepted: uncaught, escape:GLOB, caught:GLOB (of CLASS.METHOD)",
        ),
        (
            "report=escape:a.B.c;escape:a.B#c",
            "bad value \"escape:a.B#c\"",
        ),
        (
            "report=escape:a.B.c(int)",
            "bad value \"escape:a.B.c(int)\"",
        ),
        ("report=caught:a.B.", "bad value \"caught:a.B.\""),
        ("report=caught:a.B.c d", "bad value \"caught:a.B.c d\""),
        ("report=caught:*", "bad value \"caught:*\""),
        ("verbose", "has no value"),
        (
            "out=a,copy=fields,out=b",
            "option out is given twice: \"a\" and \"b\"",
        ),
        ("version=\"1", "never closed"),
        (
            "redact=a;\"b\"c",
            "text behind the closing quote of redact, \"c\"; write \"b\" without it",
        ),
        (
            "include=a.*;\"b.*;c.*\"",
            "the quote of include is never closed",
        ),
        (
            "version=\"1\"x",
            "text behind the closing quote of version, \"x\"; write \"1\" without it",
        ),
        (
            "out=o;mode=trace",
            "the value of out has \";mode=\" in it: put a comma between keys, or quote the value",
        ),
        ("out=o; max-trace = 5M", "has \";max-trace=\" in it"),
        ("out='o';mode=trace", "has \";mode=\" in it"),
        ("include=a.**;exclude=a.b.**", "has \";exclude=\" in it"),
        ("@a;mode=trace", "the value of @FILE has \";mode=\" in it"),
        (
            "max-writes=1k",
            "option max-writes is for copy=deep and copy=depth:N only",
        ),
        ("copy=fields,max-writes=1k", "option max-writes is for"),
        (
            "@/nonexistent/file",
            "cannot read option file /nonexistent/file",
        ),
    ] {
        let error = Options::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
        assert!(!error.contains('\n'));
    }
}

#[test]
fn a_log_of_writes_has_a_size() {
    for text in [
        "max-writes=1k,copy=deep",
        "copy=depth:2,max-writes=1k",
        "copy.receiver=deep,max-writes=1k",
    ] {
        assert_eq!(Options::parse(text).unwrap().max_writes, 1 << 10, "{text}");
    }
}

/// Creates an option file with this name and content, and returns its path.
fn option_file(name: &str, content: &str) -> String {
    let directory = std::env::temp_dir().join(format!("hindsight-options-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn quotes_around_members_of_a_list_are_no_part_of_them() {
    let text = "include=a.**;\"b.**\",exclude=\"x.*; 'y.*'\",redact=foo;\"nickname\";type:'a.Key',\
                report=uncaught;escape: \"a.B.c\",dump-on=QUIT;'USR1'";
    let options = Options::parse(text).unwrap();
    assert!(options.include.matches("a.B") && options.include.matches("b.C"));
    assert!(options.exclude.matches("y.K"));
    assert!(options.is_secret("nickname") && options.redact.is_class("a.Key"));
    assert!(options.report.escape.matches("a.B.c"));
    assert_eq!(options.dump_on, ["QUIT", "USR1"]);
    let trace = Options::parse("mode=trace,sample=a.*;'b.*'").unwrap().trace;
    assert!(trace.sample.unwrap().classes.matches("b.C"));
    let first = Options::parse("include=\"a.**\";\"b.**\",exclude='x.*' ;y.*").unwrap();
    assert!(first.include.matches("a.B") && first.include.matches("b.C"));
    assert!(first.exclude.matches("x.K") && first.exclude.matches("y.K"));
    // This is a name as in Kotlin.
    let file = option_file("apostrophe", "mode=trace\nfrom=a.B.it's;a.B.c\n");
    let from = Options::parse(&format!("@{file}")).unwrap().trace.from;
    fs::remove_file(file).unwrap();
    assert!(from.matches("a.B.it's") && from.matches("a.B.c"));
}

#[test]
fn any_name_of_a_file_can_be_quoted() {
    let inner = option_file("in, ner", "per-minute=7\n");
    let content = format!("\u{feff}version=1,2\r\n# no key\n@{inner}\n");
    let file = option_file("d e,f", &content);
    for text in [format!("@\"{file}\""), format!("\"@{file}\",out=o")] {
        let options = Options::parse(&text).unwrap();
        assert_eq!((options.version.as_str(), options.per_minute), ("1,2", 7));
    }
    let error = Options::parse(&format!("@\"{file}\"x")).unwrap_err();
    assert!(error.to_string().contains("behind the closing quote"));
    fs::remove_file(inner).unwrap();
    fs::remove_file(file).unwrap();
}

#[test]
fn keys_in_one_line_of_a_file_are_no_part_of_a_name() {
    let parse = |name, line| {
        let file = option_file(name, line);
        let options = Options::parse(&format!("@{file}"));
        fs::remove_file(file).unwrap();
        options
    };
    let error = parse("pasted", "out=o,mode=trace").unwrap_err().to_string();
    let told = "the value of out has \",mode=\" in it: give each key a line of its own, or quote the value";
    assert!(error.contains(told), "{error}");
    let error = parse("unclosed", "out=\"o").unwrap_err().to_string();
    assert!(
        error.contains("the quote of out is never closed"),
        "{error}"
    );
    let meant = parse("meant", "out=\"o,mode=trace\"").unwrap();
    assert_eq!((meant.tracing, meant.out), (false, "o,mode=trace".into()));
    let meant = Options::parse("out='o;mode=trace'").unwrap();
    assert_eq!(meant.out, PathBuf::from("o;mode=trace"));
    let other = parse("other", "out=o,b=c;d").unwrap();
    assert_eq!(other.out, PathBuf::from("o,b=c;d"));
}

#[test]
fn comments_of_a_file_are_no_part_of_a_value() {
    let content =
        "include=com.acme.**  # ours\n\t# no key\nversion=\"it's # 1\" # quoted\nout=o#1\n";
    let file = option_file("comments", content);
    let options = Options::parse(&format!("@{file}")).unwrap();
    fs::remove_file(file).unwrap();
    assert!(options.include.matches("com.acme.a.B") && !options.include.matches("ours"));
    let read = (options.version.as_str(), options.out);
    assert_eq!(read, ("it's # 1", PathBuf::from("o#1")));
}

#[test]
fn receiver_and_arguments_may_differ() {
    for text in [
        "copy=deep,copy.receiver=depth:2",
        "copy.receiver=depth:2,copy=deep",
    ] {
        let copy = Options::parse(text).unwrap().copy;
        assert_eq!(
            (copy.receiver, copy.arguments),
            (Strategy::Depth(2), Strategy::Deep)
        );
        assert_eq!(copy.to_string(), "receiver depth:2, arguments deep");
    }
}

#[test]
fn an_empty_text_means_defaults() {
    let options = Options::parse("").unwrap();
    assert!(options.enabled && options.report.uncaught);
    assert_eq!(options.max_bytes, 64 << 20);
}

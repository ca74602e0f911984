//! What runs show: recorded ones, and those with random inputs.

use super::*;

#[test]
fn recorded_runs() {
    let Annotated { classes, expected } = annotated();
    let marked = marked();
    // The comments agree with the formal semantics.
    let bare = verdicts(classes, &["--pipeline", "S"]);
    let mut truth = bare;
    for method in truth["methods"].as_array_mut().unwrap() {
        let key = |name: &str| method[name].as_str().unwrap().to_owned();
        let (class, name, descriptor) = (key("class"), key("method"), key("descriptor"));
        for (parameter, index) in method["parameters"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .zip(0..)
        {
            if is_bodiless(parameter) {
                continue;
            }
            let place = (class.clone(), name.clone(), descriptor.clone(), index);
            let mutable = marked.contains(&place);
            parameter["verdict"] = if mutable { "mutable" } else { "immutable" }.into();
        }
    }
    let matrix = compare(&truth, expected);
    assert_eq!(matrix.wrong, [""; 0], "the oracle and the comments");

    let workplace = Workplace::new("mutability-recorded");
    let record = |jdk: usize, what: &str, include: &str| {
        let out = workplace.join(format!("run-{jdk}-{what}-{}", include.len()));
        let options = format!(
            "mode=trace,trace-what={what}{include},out={}",
            out.display()
        );
        let run = jdks()[jdk]
            .java()
            .arg(format!(
                "-agentpath:{}={options}",
                hindsight_test_programs::agent().display()
            ))
            .arg("-cp")
            .arg(classes)
            .arg("Driver")
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", both(&run));
        out.display().to_string()
    };
    let full = "calls;writes;reads;values";
    let mut runs = Vec::new();
    for jdk in 0..jdks().len() {
        let run = record(jdk, full, "");
        let found = |pipeline: &str| verdicts(classes, &["--trace", &run, "--pipeline", pipeline]);
        for (pipeline, least) in [("X", 0.78), ("D", 0.73)] {
            let document = found(pipeline);
            let matrix = compare(&document, expected);
            println!(
                "{pipeline:12} {:.3} m-precision {:.3} (JDK {})",
                matrix.m_recall(),
                matrix.m_precision(),
                jdks()[jdk].version
            );
            let wrong: Vec<Place> = places(&document, "mutable")
                .difference(marked)
                .cloned()
                .collect();
            assert_eq!(wrong, [], "{pipeline} says more than the oracle");
            assert!(matrix.m_recall() >= least, "{:#?}", matrix.open);
        }
        // X follows each step of the worked examples of the thesis to the end.
        let figures = |places: &BTreeSet<Place>| -> BTreeSet<Place> {
            let of = |place: &&Place| place.0.starts_with("Figure5");
            places.iter().filter(of).cloned().collect()
        };
        assert_eq!(
            figures(&places(&found("X"), "mutable")),
            figures(marked),
            "X and the oracle"
        );
        // These are the pipelines of the thesis.
        let matrix = compare(&found("SH-P-DH-P"), expected);
        println!(
            "SH-P-DH-P    i-precision {:.3} m-recall {:.3}",
            matrix.i_precision(),
            matrix.m_recall()
        );
        assert!(
            matrix.i_precision() >= 0.88 && matrix.m_recall() >= 0.88,
            "{:#?}",
            matrix.wrong
        );
        refines(&["SH-P"], &found("SH-P-DH-P"));
        let sound = ["--trace", &run, "--sound", "--pipeline", "S-P-DBC-P"];
        finds_only_what_is_immutable("S-P-DBC-P", &verdicts(classes, &sound));
        runs.push(run);
    }
    // Without reads less is seen, and nothing else.
    let run = record(0, "calls;writes;values", "");
    let document = verdicts(classes, &["--trace", &run, "--pipeline", "X"]);
    assert!(places(&document, "mutable").is_subset(marked));
    runs.push(run);
    // With the JDK's collections recorded, X sees their content.
    let inside = record(0, full, ",include=*;java.util.**");
    let document = verdicts(classes, &["--trace", &inside, "--pipeline", "X"]);
    let matrix = compare(&document, expected);
    println!("{:12} {:.3} (with java.util)", "X", matrix.m_recall());
    assert!(matrix.m_recall() >= 0.94, "{:#?}", matrix.open);

    // These are all together, by default and with proofs, which no run contradicts.
    let trace: Vec<&str> = ["--trace"]
        .into_iter()
        .chain(runs.iter().map(String::as_str))
        .collect();
    let best = compare(&verdicts(classes, &trace), expected);
    assert!(best.wrong.is_empty() && best.open.is_empty(), "{best:#?}");
    let sound = compare(
        &verdicts(classes, &[&trace[..], &["--sound"]].concat()),
        expected,
    );
    assert_eq!(sound.mutable[0], 0, "{:#?}", sound.wrong);

    // Evidence is the same in whatever order it is merged.
    let saved = |name: &str, arguments: &[&str]| {
        let file = workplace.join(name).display().to_string();
        let save = ["--pipeline", "X", "--save-evidence", &file];
        verdicts(classes, &[arguments, &save].concat());
        (fs::read(&file).unwrap(), file)
    };
    let (together, _) = saved("all.json", &trace);
    let singles: Vec<String> = (runs.iter().zip(0..))
        .map(|(run, at)| saved(&format!("{at}.json"), &["--trace", run]).1)
        .collect();
    let mut backwards = vec!["--evidence"];
    backwards.extend(singles.iter().rev().map(String::as_str));
    assert!(
        saved("merged.json", &backwards).0 == together,
        "evidence depends on the order"
    );
    // A run of another program shows nothing about this one, which is reported.
    let elsewhere = workplace.join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(
        elsewhere.join("Other.java"),
        "class Other { void go() { } }",
    )
    .unwrap();
    compile(&elsewhere, &[elsewhere.join("Other.java")]);
    let output = Command::new(hindsight())
        .args(["mutability", "--trace", &runs[0], "--classpath"])
        .arg(&elsewhere)
        .output()
        .unwrap();
    assert!(both(&output).contains("classes that were recorded is on the class path"));
    // A file that is named twice counts once.
    let twice = ["--evidence", &singles[0], &singles[0]];
    assert!(
        saved("twice.json", &twice).0 == fs::read(&singles[0]).unwrap(),
        "a file counts twice"
    );
}

/// The message of `hindsight mutability` on stderr when it fails.
fn refused(arguments: &[&str]) -> String {
    let output = Command::new(hindsight())
        .arg("mutability")
        .args(["--quiet", "--classpath"])
        .arg(&annotated().classes)
        .args(arguments)
        .env("JAVA_HOME", &jdks()[0].home)
        .env("XDG_CACHE_HOME", cache())
        .output()
        .unwrap();
    assert!(!output.status.success(), "{}", both(&output));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn random_inputs() {
    let Annotated { classes, expected } = annotated();
    let workplace = Workplace::new("mutability-random");
    let evidence = workplace.join("evidence.json").display().to_string();
    let random = |pipeline: &str, sequences: &str, more: &[&str]| {
        let bounds = [
            "--sequences",
            sequences,
            "--time",
            "900",
            "--pipeline",
            pipeline,
        ];
        verdicts(classes, &[&bounds, more].concat())
    };
    let before = compare(&verdicts(classes, &["--pipeline", "S-P"]), expected);
    let save = ["--seed", "3", "--save-evidence", evidence.as_str()];
    let document = random("S-P-R-P", "400", &save);
    let after = compare(&document, expected);
    println!(
        "S-P {:.3}, S-P-R-P {:.3} of the mutable ones",
        before.m_recall(),
        after.m_recall()
    );
    // Runs show what no body shows alone; and nothing that is left alone is changed.
    assert!(
        after.m_recall() >= before.m_recall() + 0.05,
        "{:#?}",
        after.open
    );
    assert_eq!(
        after.immutable[1], before.immutable[1],
        "{:#?}",
        after.wrong
    );
    // The same seed has the same answers, and what was seen can be kept.
    // How deep a recursion without end goes, and what its end costs, is the JVM's affair.
    let again = random("S-P-R-P", "400", &["--seed", "3"]);
    assert_eq!(again["methods"], document["methods"]);
    let kept = verdicts(classes, &["--evidence", &evidence, "--pipeline", "S-P-X-P"]);
    assert_eq!(places(&kept, "mutable"), places(&document, "mutable"));
    // This is as in the thesis; and proofs hold in these runs too, or the command fails.
    let thesis = random("SH-P-DRH-P", "200", &[]);
    refines(&["SH-P"], &thesis);
    let thesis = compare(&thesis, expected);
    assert!(thesis.m_recall() > before.m_recall(), "{:#?}", thesis.open);
    finds_only_what_is_immutable("S-P-DRBC-P", &random("S-P-DRBC-P", "200", &["--sound"]));
    random("S'-P-R-P", "200", &["--sound", "--seed", "4"]);

    for (arguments, part) in [
        (&["--agent", "/no/agent.so"][..], "no agent at /no/agent.so"),
        (&["--jdk", "/no/jdk"], "/no/jdk"),
        (&["--sequences", "0"], "at least one sequence"),
    ] {
        let said = refused(&[&["--pipeline", "S-R"], arguments].concat());
        assert!(said.contains(part), "{said}");
    }
}

/// Each heuristic of stage D alone, with what it needs.
#[test]
fn heuristics_of_recorded_runs() {
    let Annotated { classes, .. } = apart("heuristics");
    for jdk in 0..jdks().len() {
        let (_workplace, run) = recorded(jdk, &classes, "Heuristics");
        let judged = |pipeline: &str, more: &[&str]| {
            let arguments = [&["--trace", &run, "--pipeline", pipeline], more].concat();
            let document = verdicts(&classes, &arguments);
            let methods = document["methods"].as_array().unwrap().iter();
            let parameters = methods.flat_map(|method| method["parameters"].as_array().unwrap());
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            // The others are already decided.
            let parameters =
                parameters.filter(|row| row["type"] == "Heuristics" && row["name"] != "this");
            let row = |row: &Value| (text(&row["name"]), (text(&row["verdict"]), row.to_string()));
            parameters.map(row).collect::<BTreeMap<_, _>>()
        };
        let check = |pipeline: &str, more: &[&str], expected: [&[&str]; 2]| {
            let found = judged(pipeline, more);
            for (verdict, expected) in ["immutable", "mutable"].iter().zip(expected) {
                let names = found.iter().filter(|(_, row)| row.0 == *verdict);
                let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
                assert_eq!(
                    names, expected,
                    "{verdict} by {pipeline} {more:?}: {found:#?}"
                );
            }
        };
        let seen = &["changed", "seldom"][..];
        check("D", &[], [&[], seen]);
        // These have 10 calls, and all of the body. Other parameters are not called as often.
        check("DA", &[], [&["often"], seen]);
        check("DA", &["--calls", "11"], [&[], seen]);
        // One of two reads is half.
        check("DA", &["--coverage", "50"], [&["half", "often"], seen]);
        check("DA", &["--coverage", "51"], [&["often"], seen]);
        // They are passed to what is known to change them, also indirectly.
        let bound = &["changed", "given", "givenOn", "seldom"][..];
        check("DB", &[], [&[], bound]);
        // If one object has two names, both count.
        check("DC", &[], [&[], &["changed", "left", "right", "seldom"]]);
        let all = &["changed", "given", "givenOn", "left", "right", "seldom"][..];
        check("DH", &[], [&["often"], all]);
    }
}

#[test]
fn what_recorded_calls_hand_on() {
    let Annotated { classes, expected } = apart("recorded");
    let workplace = Workplace::new("mutability-handed-on");
    for jdk in jdks() {
        let out = workplace.join(format!("run-{}", jdk.version));
        let what = "calls;writes;reads;values";
        let options = format!("mode=trace,trace-what={what},out={}", out.display());
        let run = jdk
            .java()
            .arg(format!(
                "-agentpath:{}={options}",
                hindsight_test_programs::agent().display()
            ))
            .arg("-cp")
            .arg(&classes)
            .arg("HandedOn")
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", both(&run));
        let out = out.display().to_string();
        let document = verdicts(&classes, &["--pipeline", "X", "--trace", &out]);
        let matrix = compare(&document, &expected);
        assert!(matrix.wrong.is_empty(), "{:#?}", matrix.wrong);
        let open = matrix
            .open
            .iter()
            .filter(|line| line.contains("is mutable"));
        assert_eq!(open.count(), 0, "{:#?}", matrix.open);
    }
}

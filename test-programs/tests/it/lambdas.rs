//! Lambdas are restored in tests.

use hindsight_test_programs::{Workplace, both, jdks, reported, root};

#[test]
fn frames_with_lambdas_reproduce_on_every_jdk() {
    for recorded in jdks() {
        let workplace = Workplace::new("lambdas");
        let source = root().join("test-programs/programs/Lambdas.java");
        let classes = workplace.compile(recorded, &["--release", "11"], &[source]);
        let run = workplace
            .java_with_agent(recorded, "")
            .arg("-cp")
            .arg(&classes)
            .arg("Lambdas")
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", both(&run));
        std::fs::remove_file(classes.join("Lambdas$Gone.class")).unwrap();
        for replayed in jdks() {
            let (output, report) = reported(&mut workplace.junit(replayed, &classes));

            let frames = report["crashes"][0]["frames"]
                .as_array()
                .unwrap_or_else(|| panic!("{}", both(&output)));
            for method in ["apply", "share"] {
                let frame = frames
                    .iter()
                    .find(|frame| frame["method"] == method)
                    .unwrap();
                let place = format!("{} to {}", recorded.version, replayed.version);
                assert_eq!(frame["verdict"], "reproduces", "{place}: {frame}");
                assert!(
                    !frame.to_string().contains("cannot be found"),
                    "{place}: {frame}"
                );
            }
        }
    }
}

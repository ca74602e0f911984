//! One page of everything.

use crate::common::{hindsight, text};
use crate::inspect::recording;
use serde_json::Value;
use std::fs;
use std::path::Path;

const MODEL: &str = r#"{"schema":"hindsight.model/1","runs":[],"classes":[{"class":"shop.Till","objects":2,"nodes":2,
"edges":[{"from":0,"to":1,"class":"shop.Till","method":"<init>","descriptor":"()V","static":false,"positions":[0],
"values":[],"returned":2,"threw":0}],"observers":[]}]}"#;
const VERDICTS: &str = r#"{"schema":"hindsight.mutability/1","pipeline":"S","sound":false,"methods":[{"class":"shop.Till",
"method":"add","descriptor":"(I)V","pure":false,"parameters":[{"index":0,"name":"this","type":"shop.Till",
"verdict":"mutable","stage":"S","reason":"</script> & so on"}]}]}"#;

fn data(page: &Path) -> Value {
    let page = fs::read_to_string(page).unwrap();
    let start = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(start).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_directory_becomes_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("host-1/4711");
    fs::create_dir_all(run.join("trace")).unwrap();
    let crash = run.join("crash-0003.hsc");
    recording().write(&crash);
    fs::write(run.join("run.json"), "{\"schema\":\"hindsight.run/1\"}").unwrap();
    fs::write(dir.path().join("use.model"), MODEL).unwrap();
    fs::write(dir.path().join("verdicts.json"), VERDICTS).unwrap();

    let output = hindsight(["view".as_ref(), dir.path()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let page = dir.path().join("hindsight.html");
    let told = text(&output.stdout);
    let expected = "1 crash, 1 class with a model, 1 result of mutability";
    assert_eq!(told, format!("{}: {expected}\n", page.display()));

    let data = data(&page);
    assert_eq!(data["schema"], "hindsight.view/1");
    let shown = hindsight([
        "inspect".as_ref(),
        "--format=json".as_ref(),
        crash.as_path(),
    ]);
    let mut shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    // Collections are told by what they hold, besides.
    let list = &data["crashes"][0]["objects"][5]["meaning"]["list"];
    assert_eq!(list.as_array().unwrap().len(), 20);
    shown["objects_left_out"] = 0.into();
    shown["objects"][5]["meaning"] = serde_json::json!({ "list": list, "left_out": 0 });
    for (name, value) in shown.as_object().unwrap() {
        assert_eq!(data["crashes"][0][name], *value, "{name}");
    }
    assert_eq!(data["models"][0]["class"], "shop.Till");
    let reason = &data["mutability"][0]["methods"][0]["parameters"][0]["reason"];
    assert_eq!(reason, "</script> & so on");

    // Once more: the page itself is none of what is shown. To where one says, and to stdout.
    let elsewhere = dir.path().join("new/story.html");
    let output = hindsight(["view".as_ref(), dir.path(), "--out".as_ref(), &elsewhere]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read(&elsewhere).unwrap(), fs::read(&page).unwrap());
    let output = hindsight(["view".as_ref(), dir.path(), "--out".as_ref(), "-".as_ref()]);
    assert_eq!(output.stdout, fs::read(&page).unwrap());
}

#[test]
fn what_cannot_be_read_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let output = hindsight(["view".as_ref(), dir.path()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("nothing to show in or below"));

    recording().write(&dir.path().join("crash-0001.hsc"));
    fs::write(dir.path().join("crash-0002.hsc"), "nothing").unwrap();
    let newer = MODEL.replace("model/1", "model/9");
    fs::write(dir.path().join("use.model"), newer).unwrap();
    let output = hindsight(["view".as_ref(), dir.path()]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("crash-0002.hsc"), "{said}");
    assert!(
        said.contains("use.model has the schema hindsight.model/9"),
        "{said}"
    );
    assert_eq!(
        data(&dir.path().join("hindsight.html"))["crashes"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

//! Finds and reads what is to be shown.

use super::Error;
use crate::crashes::collect::why_none;
use crate::files::{failed, is_special, walk};
use crate::graph::{Graph, Typed};
use crate::input::Input;
use crate::inspect::json;
use crate::model::{document, show};
use crate::mutability::report::SCHEMA;
use crate::text::{self, primitive};
use crate::trace;
use crate::views::{View, iterated};
use hindsight_tracelog::crash::Value;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value as Json, json};
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most elements of an array that are shown.
const ELEMENTS: usize = 1000;
/// The most bytes of a text that are shown.
const TEXT: usize = 16 << 10;
/// The number of bytes at the beginning of a document that show what it is.
const HEAD: usize = 256;
/// The largest integer up to which a browser represents each integer exactly.
const EXACT: u64 = (1 << 53) - 1;

/// The documents that were found.
#[derive(Debug, Default)]
pub struct Found {
    /// Documents of crashes, `hindsight.crash/1`, as text: as JSON values they take ten times as
    /// much memory.
    pub crashes: Vec<Box<RawValue>>,
    /// The classes of models, each with the name of its file.
    pub models: Vec<Json>,
    /// Documents of verdicts, `hindsight.mutability/1`.
    pub mutability: Vec<Json>,
    /// The errors for files and directories that could not be read.
    pub errors: Vec<Error>,
}

impl Found {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.crashes.is_empty() && self.models.is_empty() && self.mutability.is_empty()
    }
}

/// Searches directories, at any depth, for crash files, models and verdicts, and reads them. A file
/// that is named must be one of these.
///
/// # Errors
///
/// Fails if a path cannot be read, or there is nothing to show, not even an error.
pub fn find(paths: &[PathBuf], max_objects: usize) -> Result<Found, Error> {
    let mut files = BTreeSet::new();
    let mut found = Found::default();
    for path in paths {
        if fs::metadata(path).map_err(failed("read", path))?.is_dir() {
            let errors = walk(path, &mut |file| {
                // A crash file that cannot be reached is reported when it is read.
                if !is_special(file) && kind(file).is_ok_and(|kind| kind != Kind::Other) {
                    files.insert(file.to_owned());
                }
            });
            found.errors.extend(errors.into_iter().map(Error::from));
        } else if kind(path)? == Kind::Other {
            return Err(Error::Other(path.clone()));
        } else {
            files.insert(path.clone());
        }
    }
    for file in &files {
        if let Err(error) = read(file, max_objects, &mut found) {
            found.errors.push(error);
        }
    }
    if found.is_empty() && found.errors.is_empty() {
        return Err(Error::Nothing(nothing_in(paths)));
    }
    Ok(found)
}

/// The message that directories contain nothing to show, with the reason if it is known.
fn nothing_in(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let mut text = format!(
        "nothing to show in or below {}: no crash-*.hsc, no model, no result of hindsight mutability --format json",
        names.join(", ")
    );
    if let Some(why) = paths.iter().find_map(|path| why_none(path)) {
        text += &format!("; {why}");
    } else if let Some(trace) = paths.iter().find_map(|path| trace::find(path).ok()) {
        let trace = trace.display();
        text += &format!(
            "; of its trace, hindsight model {trace} --out {trace}/use.model makes a model"
        );
    }
    text
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Crash,
    Model,
    Mutability,
    Other,
}

/// The kind of a file, judged by its name or its first bytes.
fn kind(path: &Path) -> Result<Kind, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.ends_with(".hsc") || name.ends_with(".hsc.part") {
        return Ok(Kind::Crash);
    }
    let mut head = Vec::with_capacity(HEAD);
    let failed = failed("read", path);
    let file = File::open(path).map_err(failed)?;
    let read = file.take(HEAD as u64).read_to_end(&mut head);
    read.map_err(failed)?;
    let head = String::from_utf8_lossy(&head);
    Ok(match head.split_once("\"schema\"") {
        Some((before, after)) if before.trim() == "{" => {
            let schema = after.trim_start().trim_start_matches(':').trim_start();
            match schema {
                _ if schema.starts_with("\"hindsight.model/") => Kind::Model,
                _ if schema.starts_with("\"hindsight.mutability/") => Kind::Mutability,
                _ => Kind::Other,
            }
        }
        _ => Kind::Other,
    })
}

fn read(path: &Path, max_objects: usize, found: &mut Found) -> Result<(), Error> {
    let kind = kind(path)?;
    if kind == Kind::Crash {
        let input = Input::read(path)?;
        let mut crash = json::document(&input, max_objects, ELEMENTS)?;
        cut_texts(&mut crash);
        add_meanings(&input, &mut crash);
        add_headings(&input, &mut crash);
        share_fields(&mut crash);
        make_exact(&mut crash);
        found.crashes.push(to_raw_value(&crash)?);
        return Ok(());
    }
    let text = fs::read(path).map_err(failed("read", path))?;
    let name = path.display().to_string();
    let no_json = |source| Error::Json {
        path: path.to_owned(),
        source,
    };
    let known: Schema = serde_json::from_slice(&text).map_err(no_json)?;
    match (kind, known.schema.as_str()) {
        (Kind::Model, document::SCHEMA) => {
            let model = document::parse(&text).map_err(|source| Error::Model {
                path: path.to_owned(),
                source,
            })?;
            for mut class in document::classes(&model).map_err(no_json)? {
                write_values(&mut class);
                class["file"] = json!(name);
                found.models.push(class);
            }
        }
        (Kind::Mutability, SCHEMA) => {
            let verdicts: Verdicts =
                serde_json::from_slice(&text).map_err(|source| Error::Verdicts {
                    path: path.to_owned(),
                    source,
                })?;
            let mut verdicts = serde_json::to_value(verdicts).map_err(no_json)?;
            verdicts["file"] = json!(name);
            found.mutability.push(verdicts);
        }
        (_, schema) => {
            return Err(Error::Schema {
                path: path.to_owned(),
                schema: schema.to_owned(),
            });
        }
    }
    Ok(())
}

/// Adds the headings of frames, and for threads what they wait for and hold, as `hindsight inspect`
/// prints them.
fn add_headings(input: &Input, crash: &mut Json) {
    let failure = &input.crash.failure;
    let headings = (0..).zip(&failure.exceptions);
    let headings = headings.map(|(index, _)| text::heading(failure, index));
    crash["headings"] = json!(headings.collect::<Vec<_>>());
    for (at, state) in failure.threads.iter().enumerate() {
        let told = &mut crash["threads"][at];
        told["told"] = json!(text::thread(failure, state));
        for (at, lock) in state.owns.iter().enumerate() {
            told["owns"][at]["told"] = json!(text::locked(lock));
        }
    }
}

#[derive(Deserialize)]
struct Schema {
    schema: String,
}

/// What the page shows of verdicts.
#[derive(Serialize, Deserialize)]
struct Verdicts {
    pipeline: Option<String>,
    #[serde(default)]
    sound: bool,
    methods: Vec<MethodRow>,
}

#[derive(Serialize, Deserialize)]
struct MethodRow {
    class: String,
    method: String,
    descriptor: String,
    pure: Option<bool>,
    parameters: Vec<ParameterRow>,
}

#[derive(Serialize, Deserialize)]
struct ParameterRow {
    name: String,
    verdict: String,
    stage: Option<String>,
    reason: String,
}

/// Replaces the values of a model by the texts that `hindsight model` prints.
fn write_values(class: &mut Json) {
    let each = |json: &mut Json, key| match json[key].take() {
        Json::Array(all) => all,
        _ => Vec::new(),
    };
    let mut edges = each(class, "edges");
    for edge in &mut edges {
        let mut values = each(edge, "values");
        for of in &mut values {
            let ty = of["type"].as_str().unwrap_or_default().to_owned();
            for seen in of["seen"].as_array_mut().into_iter().flatten() {
                if let Some(literal) = document::from_json(&seen["value"]) {
                    seen["value"] = json!(show::value(&literal, &ty));
                }
            }
        }
        edge["values"] = Json::Array(values);
    }
    class["edges"] = Json::Array(edges);
}

/// Replaces numbers that a browser would change by texts as `inspect` prints them: integers beyond
/// those that a double represents exactly, and values whose form a double loses (`1.0`, `-0.0`).
fn make_exact(json: &mut Json) {
    match json {
        Json::Number(number) if number.is_f64() => {
            let value = number.as_f64().unwrap_or(f64::NAN);
            *json = Json::String(primitive(Typed::new(Value::Double(value), "D")));
        }
        Json::Number(number) => {
            let size = number.as_u64();
            let size = size.or_else(|| number.as_i64().map(i64::unsigned_abs));
            if size.is_some_and(|size| size > EXACT) {
                *json = Json::String(number.to_string());
            }
        }
        Json::Array(all) => all.iter_mut().for_each(make_exact),
        Json::Object(all) => all.values_mut().for_each(make_exact),
        _ => {}
    }
}

/// Cuts long texts, which make a page large besides objects and elements. The document says what is
/// missing.
fn cut_texts(crash: &mut Json) {
    let objects = crash["objects"].as_array_mut();
    objects.into_iter().flatten().for_each(cut);
}

/// Cuts a long text, and adds the number of characters of the whole.
fn cut(object: &mut Json) {
    if let Some(text) = object.get("text").and_then(Json::as_str)
        && text.len() > TEXT
    {
        let characters = text.encode_utf16().count();
        object["text"] = json!(text[..text.floor_char_boundary(TEXT)]);
        object["characters"] = json!(characters);
    }
}

/// Adds to the JDK's objects what they mean, as they were at the failure.
fn add_meanings(input: &Input, crash: &mut Json) {
    let graph = Graph::at_failure(&input.crash);
    let Some(objects) = crash["objects"].as_array_mut() else {
        return;
    };
    for object in objects {
        let number = object["id"].as_u64().and_then(|id| u32::try_from(id).ok());
        let meaning = match number.and_then(|number| iterated(&graph, number)) {
            Some(View::Scalar(text)) => json!({ "text": text }),
            Some(View::Text(text)) => json!({ "text": String::from_utf16_lossy(&text) }),
            Some(View::List(all)) => {
                let left_out = all.len().saturating_sub(ELEMENTS);
                let shown: Vec<Json> = all.into_iter().take(ELEMENTS).map(json::value).collect();
                json!({ "list": shown, "left_out": left_out })
            }
            Some(View::Map(all)) => {
                let left_out = all.len().saturating_sub(ELEMENTS);
                let pair = |(key, value)| json!([json::value(key), json::value(value)]);
                let shown: Vec<Json> = all.into_iter().take(ELEMENTS).map(pair).collect();
                json!({ "map": shown, "left_out": left_out })
            }
            None => continue,
        };
        object["meaning"] = meaning;
        cut(&mut object["meaning"]);
    }
}

/// Lists the fields of objects of one class once, as a shape; the objects then have only their
/// values, in its order. The fields would otherwise be four fifths of the document.
fn share_fields(crash: &mut Json) {
    let mut shapes: Vec<Json> = Vec::new();
    let mut known: HashMap<Vec<String>, usize> = HashMap::new();
    let objects = crash["objects"].as_array_mut().into_iter().flatten();
    for object in objects.filter_map(Json::as_object_mut) {
        let Some(Json::Array(fields)) = object.get_mut("fields") else {
            continue;
        };
        let mut values = Vec::with_capacity(fields.len());
        let mut key = Vec::with_capacity(3 * fields.len());
        for field in fields.iter_mut() {
            values.push(field["value"].take());
            for part in ["owner", "name", "descriptor"] {
                key.push(field[part].as_str().unwrap_or_default().to_owned());
            }
        }
        let shape = *known.entry(key).or_insert_with_key(|key| {
            let field = |field: &[String]| json!({ "owner": field[0], "name": field[1], "descriptor": field[2] });
            shapes.push(key.chunks_exact(3).map(field).collect());
            shapes.len() - 1
        });
        *fields = values;
        object.insert("shape".to_owned(), json!(shape));
    }
    crash["shapes"] = Json::Array(shapes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_tracelog::crash::{Body, ClassInfo, Object, Text};
    use hindsight_tracelog::reader::Crash;

    #[test]
    fn documents_are_known_by_their_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let of = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            kind(&path).unwrap()
        };
        assert_eq!(of("crash-0001.hsc", ""), Kind::Crash);
        assert_eq!(of("a", "{\"schema\":\"hindsight.model/1\""), Kind::Model);
        assert_eq!(
            of("b.json", "{\n  \"schema\": \"hindsight.mutability/1\","),
            Kind::Mutability
        );
        assert_eq!(
            of("c.json", "{\"x\": {\"schema\":\"hindsight.model/1\"}}"),
            Kind::Other
        );
        assert_eq!(of("d", "\u{0}\u{1}"), Kind::Other);
    }

    #[test]
    fn what_is_left_out_is_told() {
        let class = |id, name: &str| ClassInfo {
            id,
            name: name.to_owned(),
            ..ClassInfo::default()
        };
        let object = |class, body| Some(Object { class, body });
        let crash = Crash {
            classes: vec![class(0, "[B"), class(1, "java.lang.String")],
            objects: vec![
                object(0, Body::Primitives(vec![1; ELEMENTS + 3])),
                None,
                object(1, Body::String(Text::Utf8("ä".repeat(TEXT)))),
                object(0, Body::Primitives(Vec::new())),
            ],
            ..Crash::default()
        };
        let input = Input {
            path: "crash-0001.hsc".into(),
            crash,
            notes: Vec::new(),
            bytes: Vec::new(),
        };
        let mut bounded = json::document(&input, 2, ELEMENTS).unwrap();
        cut_texts(&mut bounded);
        assert_eq!(bounded["objects_left_out"], 1);
        let [array, text] = bounded["objects"].as_array().unwrap().as_slice() else {
            panic!("{bounded}");
        };
        assert_eq!(array["left_out"], 3);
        assert_eq!(array["elements"].as_array().unwrap().len(), ELEMENTS);
        assert_eq!(
            (text["id"].as_u64(), &text["characters"]),
            (Some(2), &json!(TEXT))
        );
        assert_eq!(text["text"].as_str().unwrap().len(), TEXT);
        // The whole document leaves nothing out.
        let mut whole = Vec::new();
        json::write_one(&input, &mut whole).unwrap();
        let whole: Json = serde_json::from_slice(&whole).unwrap();
        assert_eq!(
            whole["objects"][0]["elements"].as_array().unwrap().len(),
            ELEMENTS + 3
        );
        assert!(
            whole["objects"][0].get("left_out").is_none()
                && whole.get("objects_left_out").is_none()
        );
        assert_eq!(whole["objects"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn fields_are_named_once() {
        let field = |name: &str, value: u32| json!({ "owner": "A", "name": name, "descriptor": "I", "value": value });
        let mut crash = json!({ "objects": [
            { "id": 0, "fields": [field("x", 1), field("y", 2)] },
            { "id": 1, "elements": [1] },
            { "id": 2, "fields": [field("x", 3), field("y", 4)] },
            { "id": 3, "fields": [] },
        ]});
        share_fields(&mut crash);
        let name = |name: &str| json!({ "owner": "A", "name": name, "descriptor": "I" });
        assert_eq!(crash["shapes"], json!([[name("x"), name("y")], []]));
        let objects = json!([
            { "id": 0, "fields": [1, 2], "shape": 0 },
            { "id": 1, "elements": [1] },
            { "id": 2, "fields": [3, 4], "shape": 0 },
            { "id": 3, "fields": [], "shape": 1 },
        ]);
        assert_eq!(crash["objects"], objects);
    }

    #[test]
    fn nothing_to_show_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("notes.txt"), "no").unwrap();
        let paths = [dir.path().to_owned()];
        assert!(
            find(&paths, 1)
                .unwrap_err()
                .to_string()
                .contains("nothing to show")
        );
        // The message has the reason, if it is known.
        let below = dir.path().join("run");
        fs::create_dir(&below).unwrap();
        let told = || {
            find(std::slice::from_ref(&below), 1)
                .unwrap_err()
                .to_string()
        };
        fs::write(below.join("dictionary.hsd"), "").unwrap();
        assert!(told().contains("hindsight model"), "{}", told());
        let run = r#"{"options":{"include":"shop.**"},"counters":{}}"#;
        fs::write(below.join("run.json"), run).unwrap();
        assert!(told().contains("no class that was loaded matches include=shop.**"));
        fs::remove_dir_all(&below).unwrap();
        let named = [dir.path().join("notes.txt")];
        assert!(
            find(&named, 1)
                .unwrap_err()
                .to_string()
                .contains("is no crash file")
        );
        // A crash file that cannot be read is reported, and the others are shown.
        fs::write(dir.path().join("crash-0001.hsc"), "no").unwrap();
        let model = |classes: &str| {
            let text =
                format!("{{\"schema\":\"hindsight.model/1\",\"runs\":[],\"classes\":{classes}}}");
            fs::write(dir.path().join("use.model"), text).unwrap();
        };
        model(r#"[{"class":"a.A","objects":0,"nodes":1,"edges":[],"observers":[]}]"#);
        let found = find(&paths, 1).unwrap();
        assert_eq!((found.errors.len(), found.models.len()), (1, 1));
        assert!(
            found.models[0]["file"]
                .as_str()
                .unwrap()
                .ends_with("use.model")
        );
        // Files that are not models are not shown either.
        for classes in [
            "[1]",
            "[\"a\"]",
            "[[]]",
            "[{\"class\":\"a.A\"}]",
            "{}",
            "null",
        ] {
            model(classes);
            let found = find(&paths, 1).unwrap();
            assert_eq!((found.errors.len(), found.models.len()), (2, 0));
            let error = text::with_causes(&found.errors[1]);
            assert!(error.contains("use.model"), "{error}");
        }
        let verdicts = dir.path().join("verdicts.json");
        for methods in ["[1]", "[{\"class\":\"A\"}]", "{}", "null"] {
            let text = format!("{{\"schema\":\"hindsight.mutability/1\",\"methods\":{methods}}}");
            fs::write(&verdicts, text).unwrap();
            let found = find(std::slice::from_ref(&verdicts), 1).unwrap();
            let error = text::with_causes(&found.errors[0]);
            assert!(error.contains("verdicts.json"), "{error}");
        }
    }

    #[test]
    fn numbers_that_a_browser_would_change_are_texts() {
        let mut all = json!([
            9_007_199_254_740_991_i64,
            9_007_199_254_740_993_i64,
            i64::MIN,
            u64::MAX,
            1.0,
            -0.0,
            { "in": [0.1, "NaN"] },
            true,
        ]);
        make_exact(&mut all);
        let expected = json!([
            9_007_199_254_740_991_i64,
            "9007199254740993",
            "-9223372036854775808",
            "18446744073709551615",
            "1.0",
            "-0.0",
            { "in": ["0.1", "NaN"] },
            true,
        ]);
        assert_eq!(all, expected);
    }

    #[test]
    fn values_of_models_are_told_as_texts() {
        let mut class = json!({ "edges": [{ "values": [{ "type": "D", "seen": [
            { "value": { "double": "0.5", "bits": 0.5_f64.to_bits() }, "count": 1 },
            { "value": i64::MAX, "count": 1 },
            { "value": "a", "count": 1 },
        ] }] }] });
        write_values(&mut class);
        let seen = json!([
            { "value": "0.5", "count": 1 },
            { "value": "9223372036854775807", "count": 1 },
            { "value": "\"a\"", "count": 1 },
        ]);
        assert_eq!(class["edges"][0]["values"][0]["seen"], seen);
    }
}

use super::*;
use std::io::Write;
use zip::write::SimpleFileOptions;

fn jar(entries: &[(&str, &[u8])], stored: bool) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let method = match stored {
        true => zip::CompressionMethod::Stored,
        false => zip::CompressionMethod::Deflated,
    };
    for (name, bytes) in entries {
        zip.start_file(
            *name,
            SimpleFileOptions::default().compression_method(method),
        )
        .unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A class file without members.
fn class(name: &str) -> Vec<u8> {
    let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 3, 1];
    bytes.extend((name.len() as u16).to_be_bytes());
    bytes.extend(name.as_bytes());
    // Constant 2 is the class; its name is constant 1.
    bytes.extend([7, 0, 1, 0, 0x21, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

#[test]
fn what_manifests_name_is_read_too() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    fs::create_dir_all(at("lib/p/native")).unwrap();
    let listing = b"Class-Path: lib/util.jar lib gone.jar\n".as_slice();
    let back = b"Class-Path: ../main.jar\n".as_slice();
    let main = jar(&[(MANIFEST, listing), ("A.class", b"a")], true);
    let util = jar(&[(MANIFEST, back), ("B.class", b"b")], false);
    let found_by_jvm = class("p/C");
    fs::write(at("main.jar"), main).unwrap();
    fs::write(at("lib/util.jar"), util).unwrap();
    fs::write(at("lib/p/C.class"), &found_by_jvm).unwrap();
    fs::write(at("lib/p/D.class"), class("D")).unwrap();
    fs::write(at("lib/p/native/N.class"), class("p/native/N")).unwrap();
    fs::write(at("E.class"), class("E")).unwrap();
    let parts = std::env::join_paths([at("main.jar"), at("E.class")]).unwrap();
    let found = class_path(parts.to_str().unwrap(), 17).unwrap();
    let classes: Vec<_> = found.classes.iter().map(|raw| &raw.bytes[..]).collect();
    let other = class("p/native/N");
    let expected = [b"a", b"b", &found_by_jvm[..], &other, &class("E")];
    assert_eq!(classes, expected);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    // Errors of entries that the class path names itself are reported, even if a manifest names
    // them, too.
    fs::write(at("lib/util.jar"), "broken").unwrap();
    assert!(class_path(at("main.jar").to_str().unwrap(), 17).is_ok());
    let parts = std::env::join_paths([at("main.jar"), at("lib/util.jar")]).unwrap();
    let error = class_path(parts.to_str().unwrap(), 17).unwrap_err();
    assert!(error.to_string().contains("util.jar"), "{error}");
}

#[test]
fn of_a_directory_that_a_manifest_names_packages_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    for package in ["p/q", "not-a-package/p"] {
        fs::create_dir_all(at(package)).unwrap();
    }
    let main = jar(&[(MANIFEST, b"Class-Path: .\n".as_slice())], true);
    fs::write(at("main.jar"), main).unwrap();
    fs::write(at("p/q/A.class"), class("p/q/A")).unwrap();
    fs::write(at("not-a-package/p/B.class"), class("not-a-package/p/B")).unwrap();
    std::os::unix::fs::symlink(at("p"), at("link")).unwrap();
    std::os::unix::fs::symlink("/", at("p/all")).unwrap();
    let found = class_path(at("main.jar").to_str().unwrap(), 17).unwrap();
    let places: Vec<&str> = found.classes.iter().map(|raw| raw.place.as_str()).collect();
    assert!(
        matches!(places[..], [place] if place.ends_with("p/q/A.class")),
        "{places:?}"
    );
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

#[test]
fn links_to_directories_above_are_no_classes_twice() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    fs::create_dir_all(root.join("p")).unwrap();
    fs::write(root.join("p/A.class"), "a").unwrap();
    // With two links there are two paths at each step.
    for link in ["one", "two"] {
        std::os::unix::fs::symlink(&root, root.join("p").join(link)).unwrap();
    }
    let found = class_path(root.to_str().unwrap(), 17).unwrap();
    assert_eq!(found.classes.len(), 1);
    assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
}

#[test]
fn nested_and_multi_release_archives() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = b"Manifest-Version: 1.0\r\nMulti-Release: true\r\n";
    let inner = jar(
        &[
            (MANIFEST, manifest),
            ("a/A.class", b"old"),
            ("META-INF/versions/11/a/A.class", b"eleven"),
            ("META-INF/versions/17/a/A.class", b"seventeen"),
            ("META-INF/versions/21/a/A.class", b"twenty-one"),
        ],
        false,
    );
    for stored in [true, false] {
        let outer = jar(
            &[
                ("BOOT-INF/classes/B.class", b"b"),
                ("BOOT-INF/lib/in.jar", &inner),
                ("bad.jar", b"no"),
            ],
            stored,
        );
        let path = dir.path().join("outer.jar");
        fs::write(&path, outer).unwrap();
        let found = class_path(path.to_str().unwrap(), 17).unwrap();
        let bytes: Vec<_> = found
            .classes
            .iter()
            .map(|raw| raw.bytes.as_slice())
            .collect();
        assert_eq!(bytes, [&b"b"[..], b"seventeen"]);
        assert!(
            found.classes[1]
                .place
                .ends_with("in.jar!/META-INF/versions/17/a/A.class")
        );
        assert_eq!(found.warnings.len(), 1);
        assert!(
            found.warnings[0].contains("bad.jar"),
            "{:?}",
            found.warnings
        );
    }
    let none = dir.path().join("none.jar").display().to_string();
    let broken = dir.path().join("broken.jar").display().to_string();
    fs::write(&broken, "PK").unwrap();
    for read in [class_path, class_path_in_part] {
        let error = read(&none, 17).unwrap_err();
        assert!(error.to_string().contains("none.jar"));
    }
    // Besides other entries, both are warnings in this mode.
    let good = dir.path().join("outer.jar").display().to_string();
    let all = std::env::join_paths([&none, &good, &broken]).unwrap();
    let all = all.to_str().unwrap();
    assert!(class_path(all, 17).is_err());
    let found = class_path_in_part(all, 17).unwrap();
    assert_eq!(found.classes.len(), 2);
    for (warning, name) in found.warnings.iter().zip(["none", "broken", "bad"]) {
        assert!(warning.contains(&format!("{name}.jar")), "{warning}");
    }
}

use super::*;

fn element(class: &str, method: &str) -> StackElement {
    StackElement {
        class: class.to_owned(),
        method: method.to_owned(),
        ..StackElement::default()
    }
}

fn add(methods: &Methods, name: &str, version: u8, loader: Option<&Arc<Loader>>) -> u32 {
    let ids = methods.reserve(1).unwrap();
    let first = ids.first();
    let (found, skipped) = (instrument::Methods::default(), SkippedMethods::default());
    let versions = [[version; 32], [version; 32]];
    methods.add(
        (name.to_owned(), loader.map(Arc::clone)),
        None,
        versions,
        ids,
        (found, Vec::new()),
        skipped,
    );
    first
}

#[test]
fn classes_go_with_the_last_of_their_loaders() {
    let methods = Methods::new(None);
    let [first, second, third] = [(); 3].map(|()| Arc::new(Loader::default()));
    add(&methods, "Boot", 1, None);
    let shared = add(&methods, "Shared", 1, Some(&first));
    let earlier = add(&methods, "Changed", 1, Some(&first));
    let later = add(&methods, "Changed", 2, Some(&third));
    let named = |name| {
        let table = methods.table.read().unwrap();
        (table.by_name.get(name)).map_or(0, |named| named.all().count())
    };
    assert_eq!((named("Shared"), named("Changed")), (1, 2));
    // Redefined to what they were before, classes have the numbers that they had.
    let known = |name, version, loader| methods.known(name, &[version; 32], loader);
    for (version, number) in [
        (1, earlier),
        (2, later),
        (2, later),
        (1, earlier),
        (2, later),
    ] {
        assert_eq!(known("Changed", version, Some(&third)), Some(number));
        assert_eq!(named("Changed"), 2);
    }
    assert_eq!(known("Changed", 3, Some(&third)), None);
    add(&methods, "Script", 1, Some(&third));
    assert_eq!(known("Shared", 1, Some(&second)), Some(shared));
    assert_eq!(methods.sweep(), 0);

    third.end();
    assert_eq!(methods.sweep(), 2);
    assert!(!methods.is_known("Script"));
    assert_eq!(known("Changed", 1, Some(&first)), Some(earlier));
    assert_eq!(named("Changed"), 1);

    first.end();
    assert_eq!(methods.sweep(), 1);
    assert!(!methods.is_known("Changed"));
    assert_eq!(known("Shared", 1, None), Some(shared));

    // It belongs to the boot loader by now, which never ends.
    second.end();
    assert_eq!(methods.sweep(), 0);
    assert!(methods.is_known("Boot"));
}

#[test]
fn a_class_that_is_retransformed_keeps_the_hash_of_its_file() {
    let methods = Methods::new(None);
    let loaders = [(); 2].map(|()| Arc::new(Loader::default()));
    let add = |sha256: Option<u8>, version, loader| {
        let loader: Option<&Arc<Loader>> = loader;
        let made = (instrument::Methods::default(), Vec::new());
        methods.add(
            ("Plain".to_owned(), loader.map(Arc::clone)),
            sha256.map(|byte| [byte; 32]),
            [[version; 32]; 2],
            methods.reserve(1).unwrap(),
            made,
            SkippedMethods::default(),
        );
        methods.sha256("Plain").map(|hash| hash[..2].to_owned())
    };
    assert_eq!(add(None, 1, None), None);
    assert_eq!(add(Some(0xaa), 2, Some(&loaders[0])).as_deref(), Some("aa"));
    assert_eq!(add(Some(0xbb), 3, Some(&loaders[1])).as_deref(), Some("bb"));
    assert_eq!(add(None, 4, Some(&loaders[0])).as_deref(), Some("aa"));
    assert_eq!(add(None, 5, None), None);
}

#[test]
fn frames_of_a_class_that_could_not_be_retransformed_say_so() {
    let methods = Methods::new(None);
    add(&methods, "Odd", 1, None);
    methods.refused("Odd", "it fails verification");
    assert_eq!(
        methods.absence(&element("Odd", "run")),
        "not instrumented: the JVM refused to retransform its class (it fails verification)"
    );
    // It has been tried again since, with the same outcome of ours or another one.
    for again in [1, 2] {
        methods.refused("Odd", "there is no memory");
        if methods.known("Odd", &[again; 32], None).is_none() {
            add(&methods, "Odd", again, None);
        }
        assert_eq!(methods.absence(&element("Odd", "run")), NOT_CAPTURED);
    }
}

#[test]
fn what_waits_for_its_second_chance_says_so() {
    let late: Late = Box::new(|class, method| match (class, method) {
        ("Out", _) => Chance::None,
        (_, "known") => Chance::Known,
        _ => Chance::Unseen,
    });
    let methods = Methods::new(Some(late));
    add(&methods, "Has", 1, None);
    for (class, method, reason) in [
        ("Out", "m", "not instrumented: class of the JDK, or outside"),
        ("In", "m", "not instrumented: second-chance had seen no"),
        (
            "In",
            "known",
            "not instrumented: second-chance had not given",
        ),
        ("Has", "m", "not captured: it was running when"),
        ("Has", "known", NOT_CAPTURED),
        ("Out/0x1", "m", "not instrumented: a hidden class"),
    ] {
        let told = methods.absence(&element(class, method));
        assert!(told.starts_with(reason), "{class}.{method}: {told}");
    }
    // A native method never gets probes.
    let native = StackElement {
        line: -2,
        ..element("Has", "m")
    };
    let told = methods.absence(&native);
    assert_eq!(told, "not instrumented: a native method has no bytecode");
    // What was made of it before is reported once.
    assert_eq!(methods.earlier("Has", &[1; 32]).len(), 1);
    assert_eq!(methods.earlier("Has", &[2; 32]).len(), 0);
}

#[test]
fn numbers_that_a_class_does_not_need_are_had_back() {
    let methods = Methods::new(None);
    let ids = methods.reserve(1000).unwrap();
    let (found, skipped) = (instrument::Methods::default(), SkippedMethods::default());
    let versions = [[1; 32], [1; 32]];
    let class = ("None".to_owned(), None);
    methods.add(class, None, versions, ids, (found, Vec::new()), skipped);
    // Each class has its own first number.
    let first = add(&methods, "Next", 1, None);
    assert_eq!(first, 1);
    let table = methods.table.read().unwrap();
    let firsts: Vec<u32> = table.classes.iter().map(|class| class.first_id).collect();
    assert_eq!(firsts, [0, 1]);
}

#[test]
fn numbers_of_classes_that_are_left_alone_are_had_back() {
    let methods = Methods::new(None);
    let next = || methods.table.read().unwrap().next_id;
    drop(methods.reserve(1000));
    assert_eq!(next(), 0);

    methods.reserve(1000).unwrap().keep(3);
    assert_eq!(next(), 3);

    // Other numbers are above: they stay as they are.
    let earlier = methods.reserve(1000).unwrap();
    let later = methods.reserve(1000).unwrap();
    drop(earlier);
    assert_eq!((later.first(), next()), (1003, 2003));
    later.keep(2);
    assert_eq!(next(), 1005);
}

#[test]
fn sweeping_waits_until_there_are_twice_as_many() {
    let methods = Methods::new(None);
    let loader = Arc::new(Loader::default());
    let due = |name: String| {
        let (found, skipped) = (instrument::Methods::default(), SkippedMethods::default());
        let ids = methods.reserve(1).unwrap();
        let class = (name, Some(Arc::clone(&loader)));
        methods.add(class, None, [[0; 32]; 2], ids, (found, Vec::new()), skipped)
    };
    let first = (0..).position(|n| due(format!("A{n}")));
    assert_eq!(first, Some(MANY - 1));
    assert_eq!(methods.sweep(), 0);
    let next = (0..).position(|n| due(format!("B{n}")));
    assert_eq!(next, Some(MANY - 1));
    loader.end();
    assert_eq!(methods.sweep(), 2 * MANY);
}

//! Values that are tried with any program.

use crate::model::values::Literal;
use std::collections::HashMap;

/// The values by the descriptors of their types.
pub(super) fn base_pools() -> HashMap<String, Vec<Literal>> {
    let ints = |values: &[i64]| values.iter().map(|value| Literal::Int(*value)).collect();
    let texts = |values: &[&str]| {
        let texts = values.iter().map(|text| Literal::Text((*text).to_owned()));
        texts.collect::<Vec<_>>()
    };
    let doubles = [
        0.0,
        1.0,
        -1.0,
        0.5,
        100.0,
        f64::NAN,
        f64::MAX,
        f64::INFINITY,
    ];
    let boxes = |class: &str, values: &[&str]| {
        let boxes = values
            .iter()
            .map(|value| Literal::Box(format!("java.lang.{class}"), (*value).to_owned()));
        boxes.collect::<Vec<_>>()
    };
    let pools: [(&str, Vec<Literal>); 18] = [
        ("Z", vec![Literal::Bool(true), Literal::Bool(false)]),
        ("B", ints(&[0, 1, -1, 127, -128])),
        ("S", ints(&[0, 1, -1, 32767, -32768])),
        ("C", ints(&[97, 48, 32, 0, 65])),
        (
            "I",
            ints(&[
                0,
                1,
                -1,
                2,
                10,
                100,
                i64::from(i32::MAX),
                i64::from(i32::MIN),
            ]),
        ),
        ("J", ints(&[0, 1, -1, 10, 100, i64::MAX, i64::MIN])),
        (
            "F",
            doubles
                .iter()
                .map(|value| Literal::float(*value as f32))
                .collect(),
        ),
        (
            "D",
            doubles
                .iter()
                .map(|value| Literal::double(*value))
                .collect(),
        ),
        ("Ljava/lang/String;", texts(&["", "a", "hi!", "0"])),
        ("Ljava/lang/CharSequence;", texts(&["", "a", "hi!"])),
        ("Ljava/lang/Comparable;", texts(&["", "a", "hi!"])),
        ("Ljava/lang/Object;", texts(&["", "a"])),
        ("Ljava/lang/Number;", boxes("Integer", &["0", "1", "-1"])),
        (
            "Ljava/lang/Character;",
            boxes("Character", &["a", "0", " "]),
        ),
        (
            "Ljava/lang/Double;",
            boxes("Double", &["0.0", "1.0", "-1.0", "0.5"]),
        ),
        (
            "Ljava/lang/Integer;",
            boxes("Integer", &["0", "1", "-1", "100"]),
        ),
        ("Ljava/lang/Long;", boxes("Long", &["0", "1", "-1"])),
        ("Ljava/lang/Boolean;", boxes("Boolean", &["true", "false"])),
    ];
    pools
        .into_iter()
        .map(|(ty, values)| (ty.to_owned(), values))
        .collect()
}

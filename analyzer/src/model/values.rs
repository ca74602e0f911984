//! What was seen on an edge: numbers, texts, and how often.

use std::collections::BTreeMap;

/// Different values of one parameter that are kept.
pub const MAX_VALUES: usize = 256;

/// How often something was seen, by run. Merging takes the larger count of each
/// run, so a run that is merged twice counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(Vec<(u32, u64)>);

impl Counts {
    /// So often in this run.
    pub fn of(run: u32, count: u64) -> Counts {
        Counts(vec![(run, count)])
    }

    /// Counts one more. No other run may have a larger number.
    pub fn add(&mut self, run: u32) {
        match self.0.last_mut() {
            Some((last, count)) if *last == run => *count += 1,
            _ => self.0.push((run, 1)),
        }
    }

    /// In all runs.
    pub fn total(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// By run.
    pub fn by_run(&self) -> &[(u32, u64)] {
        &self.0
    }

    /// The larger count of each run.
    pub fn merge(&mut self, other: &Counts) {
        for &(run, count) in &other.0 {
            match self.0.binary_search_by_key(&run, |entry| entry.0) {
                Ok(at) => self.0[at].1 = self.0[at].1.max(count),
                Err(at) => self.0.insert(at, (run, count)),
            }
        }
    }

    /// What was seen in two places of the same runs.
    pub fn sum(&mut self, other: &Counts) {
        for &(run, count) in &other.0 {
            match self.0.binary_search_by_key(&run, |entry| entry.0) {
                Ok(at) => self.0[at].1 = self.0[at].1.saturating_add(count),
                Err(at) => self.0.insert(at, (run, count)),
            }
        }
    }

    /// The same with other numbers for the runs.
    pub fn renumbered(&self, runs: &[u32]) -> Counts {
        let mut out = Counts::default();
        for &(run, count) in &self.0 {
            out.merge(&Counts::of(runs[run as usize], count));
        }
        out
    }
}

/// A value that can be written down.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Literal {
    /// `null`
    Null,
    /// A `boolean`.
    Bool(bool),
    /// A `byte`, `short`, `char`, `int` or `long`.
    Int(i64),
    /// The bits of a `float`.
    Float(u32),
    /// The bits of a `double`.
    Double(u64),
    /// A string.
    Text(String),
    /// A constant of an enum: class and name.
    Enum(String, String),
    /// A class, by the name that `Class.getName` gives.
    Class(String),
    /// A box, by its class and its value as a text.
    Box(String, String),
    /// Another value of the JDK, by the class that sources name and its text ([`crate::java::jdk_value`]).
    JdkValue(String, String),
}

impl Literal {
    /// A `float`. Java knows one NaN only; processors make others (`0.0 / 0` has a sign).
    pub fn float(value: f32) -> Literal {
        Literal::Float(if value.is_nan() { f32::NAN } else { value }.to_bits())
    }

    /// A `double`, likewise.
    pub fn double(value: f64) -> Literal {
        Literal::Double(if value.is_nan() { f64::NAN } else { value }.to_bits())
    }

    /// The same for equal values on every machine.
    fn hash(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut eat = |bytes: &[u8]| {
            for &byte in bytes {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        };
        match self {
            Literal::Null => eat(b"n"),
            Literal::Bool(value) => eat(&[b'z', u8::from(*value)]),
            Literal::Int(value) => eat(&value.to_le_bytes()),
            Literal::Float(bits) => eat(&bits.to_le_bytes()),
            Literal::Double(bits) => eat(&bits.to_be_bytes()),
            Literal::Text(text) => eat(text.as_bytes()),
            Literal::Enum(a, b) | Literal::Box(a, b) | Literal::JdkValue(a, b) => {
                eat(a.as_bytes());
                eat(b.as_bytes());
            }
            Literal::Class(name) => eat(name.as_bytes()),
        }
        hash
    }
}

/// The values of one parameter: those with the smallest hashes, so that which
/// ones are kept does not depend on the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values {
    kept: BTreeMap<(u64, Literal), Counts>,
    /// Whether there were more.
    pub more: bool,
}

impl Values {
    /// Counts a value once more.
    pub fn add(&mut self, value: &Literal, run: u32) {
        let hash = value.hash();
        // Most values are known, or not kept: no copy is made of these.
        let mut alike = self.kept.range_mut((hash, Literal::Null)..);
        let known = alike
            .by_ref()
            .take_while(|(key, _)| key.0 == hash)
            .find(|(key, _)| key.1 == *value);
        if let Some((_, counts)) = known {
            counts.add(run);
        } else if self.kept.len() < MAX_VALUES
            || (self.kept.last_key_value())
                .is_some_and(|(last, _)| (hash, value) < (last.0, &last.1))
        {
            self.kept.insert((hash, value.clone()), Counts::of(run, 1));
            self.shrink();
        } else {
            self.more = true;
        }
    }

    /// Puts in a value with its counts.
    pub fn insert(&mut self, value: Literal, counts: &Counts) {
        let key = (value.hash(), value);
        self.kept.entry(key).or_default().merge(counts);
        self.shrink();
    }

    /// Adds what another model has seen,
    pub fn merge(&mut self, other: &Values) {
        self.more |= other.more;
        for (key, counts) in &other.kept {
            self.kept.entry(key.clone()).or_default().merge(counts);
        }
        self.shrink();
    }

    /// and what the same has seen elsewhere.
    pub fn sum(&mut self, other: &Values) {
        self.more |= other.more;
        for (key, counts) in &other.kept {
            self.kept.entry(key.clone()).or_default().sum(counts);
        }
        self.shrink();
    }

    /// The same with other numbers for the runs.
    pub fn renumbered(&self, runs: &[u32]) -> Values {
        let kept = self.kept.iter();
        Values {
            kept: kept
                .map(|(key, counts)| (key.clone(), counts.renumbered(runs)))
                .collect(),
            more: self.more,
        }
    }

    fn shrink(&mut self) {
        while self.kept.len() > MAX_VALUES {
            self.kept.pop_last();
            self.more = true;
        }
    }

    /// The values, in their own order.
    pub fn sorted(&self) -> Vec<(&Literal, &Counts)> {
        let mut all: Vec<_> = self
            .kept
            .iter()
            .map(|((_, value), counts)| (value, counts))
            .collect();
        all.sort();
        all
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

impl PartialOrd for Counts {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Counts {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

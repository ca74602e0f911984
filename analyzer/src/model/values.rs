//! What was seen on an edge: numbers and texts, each with how often it was seen.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

/// The most different values of one parameter that are kept.
pub const MAX_VALUES: usize = 256;

/// The most lives that are kept for each place.
const MAX_LIVES: usize = 6;

/// The life of one object in one run, as a number that is never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Life(NonZeroU32);

impl Life {
    /// The life of an object, given its number in its run, and a number that is unique to the run.
    pub fn of(run: u64, serial: u64) -> Life {
        let mixed = (run ^ serial).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        Life(NonZeroU32::new((mixed >> 32) as u32).unwrap_or(NonZeroU32::MAX))
    }

    /// The number of the life.
    pub fn number(self) -> u32 {
        self.0.get()
    }
}

/// Some of the objects whose lives led over an edge, or past a value: those with the smallest
/// numbers. A life that is kept at one place is also kept at all places that it leads to, since
/// fewer and fewer lives get further on. So it can be followed to its end from there, with the
/// values that belong together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lives([Option<Life>; MAX_LIVES]);

impl Lives {
    /// Adds a life.
    pub fn add(&mut self, life: Life) {
        // Mostly there are enough lives already, with smaller numbers.
        let last = self.0[MAX_LIVES - 1];
        if last.is_some_and(|last| last <= life) {
            return;
        }
        let is_before = |known: &Option<Life>| known.is_some_and(|known| known < life);
        let at = self.0.partition_point(is_before);
        if self.0[at] != Some(life) {
            self.0[at..].rotate_right(1);
            self.0[at] = Some(life);
        }
    }

    /// Adds the lives of another place.
    pub fn merge(&mut self, other: &Lives) {
        for life in other.all() {
            self.add(life);
        }
    }

    /// All lives that are kept, by rising number.
    pub fn all(&self) -> impl Iterator<Item = Life> {
        self.0.iter().map_while(|life| *life)
    }

    /// Whether a life is among them.
    pub fn contains(&self, life: Life) -> bool {
        self.0.contains(&Some(life))
    }

    /// The lives with these numbers; `None` if one of the numbers cannot be that of a life.
    pub fn from_numbers(numbers: &[u32]) -> Option<Lives> {
        let mut lives = Lives::default();
        for number in numbers {
            lives.add(Life(NonZeroU32::new(*number)?));
        }
        Some(lives)
    }
}

/// How often something was seen, by run. Merging takes the larger count of each
/// run, so a run that is merged twice counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(Vec<(u32, u64)>);

impl Counts {
    /// A count for one run.
    pub fn of(run: u32, count: u64) -> Counts {
        Counts(vec![(run, count)])
    }

    /// Counts one more in a run. No other run that is counted here may have a larger number.
    pub fn add(&mut self, run: u32) {
        match self.0.last_mut() {
            Some((last, count)) if *last == run => *count += 1,
            _ => self.0.push((run, 1)),
        }
    }

    /// The sum over all runs.
    pub fn total(&self) -> u64 {
        self.0
            .iter()
            .fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// The counts, as pairs of run and count by rising run.
    pub fn by_run(&self) -> &[(u32, u64)] {
        &self.0
    }

    /// Keeps the larger count of each run.
    pub fn merge(&mut self, other: &Counts) {
        for &(run, count) in &other.0 {
            match self.0.binary_search_by_key(&run, |entry| entry.0) {
                Ok(at) => self.0[at].1 = self.0[at].1.max(count),
                Err(at) => self.0.insert(at, (run, count)),
            }
        }
    }

    /// Adds the counts of another place, seen in the same runs.
    pub fn sum(&mut self, other: &Counts) {
        for &(run, count) in &other.0 {
            match self.0.binary_search_by_key(&run, |entry| entry.0) {
                Ok(at) => self.0[at].1 = self.0[at].1.saturating_add(count),
                Err(at) => self.0.insert(at, (run, count)),
            }
        }
    }

    /// The counts with the runs renumbered.
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
    /// The null reference.
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
    /// A string that has lone surrogates, in UTF-16 units.
    Units(Vec<u16>),
    /// A constant of an enum, by class and name.
    Enum(String, String),
    /// A class, by the name that `Class.getName` returns.
    Class(String),
    /// A box, by its class and its value as a text.
    Box(String, String),
    /// Another value of the JDK, by the class that sources name and its text
    /// ([`crate::java::jdk_value`]).
    JdkValue(String, String),
}

impl Literal {
    /// A `float`. Java has only one NaN; processors produce others (`0.0 / 0` has a sign), which
    /// are normalised.
    pub fn float(value: f32) -> Literal {
        Literal::Float(if value.is_nan() { f32::NAN } else { value }.to_bits())
    }

    /// A `double`, with NaNs normalised as in [`Literal::float`].
    pub fn double(value: f64) -> Literal {
        Literal::Double(if value.is_nan() { f64::NAN } else { value }.to_bits())
    }

    /// A hash that is the same for equal values on every machine.
    pub(super) fn hash(&self) -> u64 {
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
            Literal::Units(units) => units.iter().for_each(|unit| eat(&unit.to_be_bytes())),
            Literal::Enum(a, b) | Literal::Box(a, b) | Literal::JdkValue(a, b) => {
                eat(a.as_bytes());
                eat(b.as_bytes());
            }
            Literal::Class(name) => eat(name.as_bytes()),
        }
        hash
    }
}

/// Where a value was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often the value was seen.
    pub counts: Counts,
    /// In which lives the value was seen.
    pub lives: Lives,
}

/// The values of one parameter. Those with the smallest hashes are kept, so that the choice does
/// not depend on the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values {
    kept: BTreeMap<(u64, Literal), Seen>,
    /// Whether there were more values than are kept.
    pub more: bool,
}

impl Values {
    /// Counts a value once more, in the life of an object.
    pub fn add(&mut self, value: &Literal, run: u32, life: Life) {
        let hash = value.hash();
        // Most values are known already, or are not kept: these are not copied.
        let mut alike = self.kept.range_mut((hash, Literal::Null)..);
        let known = alike
            .by_ref()
            .take_while(|(key, _)| key.0 == hash)
            .find(|(key, _)| key.1 == *value);
        if let Some((_, seen)) = known {
            seen.counts.add(run);
            seen.lives.add(life);
        } else if self.kept.len() < MAX_VALUES
            || (self.kept.last_key_value())
                .is_some_and(|(last, _)| (hash, value) < (last.0, &last.1))
        {
            let mut seen = Seen {
                counts: Counts::of(run, 1),
                ..Seen::default()
            };
            seen.lives.add(life);
            self.kept.insert((hash, value.clone()), seen);
            self.shrink();
        } else {
            self.more = true;
        }
    }

    /// Adds a value and where it was seen.
    pub fn insert(&mut self, value: Literal, seen: &Seen) {
        let key = (value.hash(), value);
        let known = self.kept.entry(key).or_default();
        known.counts.merge(&seen.counts);
        known.lives.merge(&seen.lives);
        self.shrink();
    }

    /// Merges what another model has seen.
    pub fn merge(&mut self, other: &Values) {
        self.with(other, Counts::merge);
    }

    /// Adds what the same model has seen at another place.
    pub fn sum(&mut self, other: &Values) {
        self.with(other, Counts::sum);
    }

    fn with(&mut self, other: &Values, put: fn(&mut Counts, &Counts)) {
        self.more |= other.more;
        for (key, seen) in &other.kept {
            let known = self.kept.entry(key.clone()).or_default();
            put(&mut known.counts, &seen.counts);
            known.lives.merge(&seen.lives);
        }
        self.shrink();
    }

    /// The values with the runs renumbered.
    pub fn renumbered(&self, runs: &[u32]) -> Values {
        let renumbered = |seen: &Seen| Seen {
            counts: seen.counts.renumbered(runs),
            lives: seen.lives,
        };
        let kept = self.kept.iter();
        Values {
            kept: kept
                .map(|(key, seen)| (key.clone(), renumbered(seen)))
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

    /// The values, sorted.
    pub fn sorted(&self) -> Vec<(&Literal, &Seen)> {
        let mut all: Vec<_> = self
            .kept
            .iter()
            .map(|((_, value), seen)| (value, seen))
            .collect();
        all.sort_by_key(|(value, _)| *value);
        all
    }

    /// Whether no value is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lives(serials: &[u64]) -> Lives {
        let mut lives = Lives::default();
        for serial in serials {
            lives.add(Life::of(1, *serial));
        }
        lives
    }

    #[test]
    fn which_lives_are_kept_does_not_depend_on_the_order() {
        let up: Vec<u64> = (0..50).collect();
        let down: Vec<u64> = (0..50).rev().collect();
        assert_eq!(lives(&up), lives(&down));
        assert_eq!(lives(&up).all().count(), MAX_LIVES);
        let mut parts = lives(&up[..20]);
        parts.merge(&lives(&up[10..]));
        parts.merge(&lives(&up[..20]));
        assert_eq!(parts, lives(&up));
        let numbers: Vec<u32> = parts.all().map(Life::number).collect();
        assert!(numbers.is_sorted());
        assert_eq!(Lives::from_numbers(&numbers), Some(parts));
        assert_eq!(Lives::from_numbers(&[3, 0]), None);
    }

    #[test]
    fn what_is_kept_of_all_is_kept_of_some() {
        let all = lives(&(0..50).collect::<Vec<_>>());
        let some: Vec<u64> = (0..50).filter(|serial| serial % 3 == 0).collect();
        let of_some: Vec<Life> = some.iter().map(|serial| Life::of(1, *serial)).collect();
        for life in all.all().filter(|life| of_some.contains(life)) {
            assert!(lives(&some).contains(life));
        }
    }
}

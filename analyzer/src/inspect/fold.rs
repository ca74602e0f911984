//! Repeated frames, as a deep recursion leaves them.

use hindsight_tracelog::crash::Frame;

/// The number of frames of the longest cycle that is searched for.
const MAX_PERIOD: usize = 64;
/// The number of rounds from which on a cycle is folded.
const MIN_ROUNDS: usize = 4;

/// A cycle of frames that occurs several times in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fold {
    /// The index of its first frame.
    pub first: usize,
    /// The number of frames of one round.
    pub period: usize,
    /// The number of rounds.
    pub rounds: usize,
}

impl Fold {
    /// The frames between the first and the last round.
    pub fn hidden(&self) -> std::ops::Range<usize> {
        self.first + self.period..self.first + self.period * (self.rounds - 1)
    }
}

/// Finds the cycles, from the first frame to the last.
pub fn folds(frames: &[Frame]) -> Vec<Fold> {
    let mut found = Vec::new();
    let mut first = 0;
    while first < frames.len() {
        let rest = &frames[first..];
        let fold = (1..=MAX_PERIOD).find_map(|period| {
            let later = rest.get(period..)?;
            let equal = rest.iter().zip(later).take_while(|(a, b)| same(a, b));
            let rounds = equal.count() / period + 1;
            (rounds >= MIN_ROUNDS).then_some(Fold {
                first,
                period,
                rounds,
            })
        });
        match fold {
            Some(fold) => {
                found.push(fold);
                first += fold.period * fold.rounds;
            }
            None => first += 1,
        }
    }
    found
}

/// Whether two frames are the same call, except for arguments.
fn same(a: &Frame, b: &Frame) -> bool {
    (&a.class, &a.method, &a.descriptor) == (&b.class, &b.method, &b.descriptor)
        && (a.line, a.exception, a.fidelity) == (b.line, b.exception, b.fidelity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(methods: &str, expected: &[(usize, usize, usize)]) {
        let frame = |method: char| Frame {
            method: method.to_string(),
            ..Frame::default()
        };
        let frames: Vec<Frame> = methods.chars().map(frame).collect();
        let found: Vec<_> = folds(&frames)
            .iter()
            .map(|fold| (fold.first, fold.period, fold.rounds))
            .collect();
        assert_eq!(found, expected, "{methods}");
    }

    #[test]
    fn cycles_are_found() {
        check("", &[]);
        check("abcdef", &[]);
        check("aaabbb", &[]);
        check("xaaaay", &[(1, 1, 4)]);
        check("xabcabcabcabcaby", &[(1, 3, 4)]);
        check("aaaabababab", &[(0, 1, 4), (4, 2, 3)][..1]);
        check("aaaaacbcbcbcb", &[(0, 1, 5), (5, 2, 4)]);
    }

    #[test]
    fn the_first_and_the_last_round_stay() {
        let fold = Fold {
            first: 10,
            period: 3,
            rounds: 5,
        };
        assert_eq!(fold.hidden(), 13..22);
    }
}

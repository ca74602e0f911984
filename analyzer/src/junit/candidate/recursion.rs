//! Selects the frames of a deep stack that are tried: those at its ends, and at the ends of a
//! recursion.

use super::runner::stacks;
use crate::text::gap;
use hindsight_tracelog::crash::Frame;
use std::collections::HashMap;

/// The number of frames that are tried at each end of the stack.
const FRAMES_AT_EACH_END: usize = 100;
/// The end of the reason of a frame in the middle of a recursion.
pub const OF_RECURSION: &str = "frames of the same recursion; the first and last three are tried";
/// The number of times from which on a method in a stack is in a recursion through other methods.
const MANY_ROUNDS: usize = 20;
/// The number of frames that are tried at each end of a recursion.
const CALLS_AT_EACH_END: usize = 3;

/// Refuses the frames in the middle of a recursion: a method that called itself from the same line,
/// again and again. Gaps do not end a recursion. If it repeats often, other methods do not end it
/// either, including the JDK's.
pub(super) fn limit_recursion(frames: &[Frame], refusals: &mut [Option<String>]) {
    let real: Vec<usize> = (0..frames.len())
        .filter(|&index| gap(&frames[index]).is_none())
        .collect();
    let at = |index: usize| {
        let Frame {
            class,
            method,
            descriptor,
            line,
            exception,
            ..
        } = &frames[index];
        (class, method, descriptor, *line, *exception)
    };
    let direct = real
        .chunk_by(|&a, &b| at(a) == at(b))
        .map(<[usize]>::to_vec);
    let mut round: HashMap<_, Vec<usize>> = HashMap::new();
    for &index in &real {
        round.entry(at(index)).or_default().push(index);
    }
    let mut round: Vec<Vec<usize>> = round
        .into_values()
        .filter(|run| run.len() > MANY_ROUNDS)
        .collect();
    round.sort();
    // What repeats is one recursion, although parts of it may be direct.
    for run in round.into_iter().chain(direct) {
        let open: Vec<usize> = run
            .iter()
            .copied()
            .filter(|&index| refusals[index].is_none())
            .collect();
        if open.len() <= 2 * CALLS_AT_EACH_END {
            continue;
        }
        for &index in &open[CALLS_AT_EACH_END..open.len() - CALLS_AT_EACH_END] {
            refusals[index] = Some(format!("one of {} {OF_RECURSION}", run.len()));
        }
    }
}

/// Refuses the frames in the middle of a very deep stack. Each exception has its own stack: the
/// frames of a cause follow those of its wrapper.
pub(super) fn limit(frames: &[Frame], refusals: &mut [Option<String>]) {
    for (_, refusals) in stacks(frames, refusals) {
        let open: Vec<usize> = (0..refusals.len())
            .filter(|&i| refusals[i].is_none())
            .collect();
        if open.len() <= 2 * FRAMES_AT_EACH_END {
            continue;
        }
        for &index in &open[FRAMES_AT_EACH_END..open.len() - FRAMES_AT_EACH_END] {
            refusals[index] = Some(format!(
                "the stack is deep: only the {FRAMES_AT_EACH_END} innermost and outermost frames are tried"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ends_of_a_recursion_are_tried() {
        let frame = |method: &str, reason: &str| Frame {
            method: method.to_owned(),
            reason: reason.to_owned(),
            ..Frame::default()
        };
        let mut frames = vec![frame("top", "")];
        frames.extend(vec![frame("m", ""); 5]);
        frames.push(frame("...", "9 frames of a deep recursion were not kept"));
        frames.extend(vec![frame("m", ""); 4]);
        frames.extend(vec![frame("n", ""); 6]);
        let mut refusals = vec![None; frames.len()];
        limit_recursion(&frames, &mut refusals);
        let refused: Vec<usize> = (0..frames.len())
            .filter(|&index| refusals[index].is_some())
            .collect();
        assert_eq!(refused, [4, 5, 7]);
        assert_eq!(
            refusals[4].as_deref(),
            Some("one of 9 frames of the same recursion; the first and last three are tried")
        );
    }

    #[test]
    fn only_the_ends_of_a_recursion_by_way_of_others_are_tried() {
        let frame = |method: &str| Frame {
            method: method.to_owned(),
            ..Frame::default()
        };
        let round = ["hashCode", "hash", "walk"];
        let frames: Vec<Frame> = (0..90).map(|at| frame(round[at % 3])).collect();
        let mut refusals = vec![None; frames.len()];
        // The JDK's are not tried anyway.
        for refusal in refusals.iter_mut().skip(1).step_by(3) {
            *refusal = Some("class of the JDK".to_owned());
        }
        limit_recursion(&frames, &mut refusals);
        let open = |method: usize| (method..90).step_by(3).filter(|&at| refusals[at].is_none());
        assert_eq!(open(0).collect::<Vec<_>>(), [0, 3, 6, 81, 84, 87]);
        assert_eq!(open(1).count(), 0);
        assert_eq!(open(2).count(), 6);
        // If it does not repeat often, each may be another case.
        let mut refusals = vec![None; 30];
        limit_recursion(&frames[..30], &mut refusals);
        assert!(refusals.iter().all(Option::is_none));
    }

    #[test]
    fn only_the_ends_of_deep_stacks_are_tried() {
        let frame = |exception| Frame {
            exception,
            ..Frame::default()
        };
        let mut frames = vec![frame(0); 250];
        let mut refusals = vec![None; 250];
        refusals[0] = Some("other".to_owned());
        limit(&frames, &mut refusals);
        assert_eq!(refusals.iter().flatten().count(), 50);
        assert!(refusals[100].is_none() && refusals[101].is_some());
        assert!(refusals[149].is_some() && refusals[150].is_none());
        // The innermost frames of its cause are those nearest to the fault.
        frames.extend(vec![frame(1); 150]);
        let mut refusals = vec![None; 400];
        limit(&frames, &mut refusals);
        assert_eq!(refusals.iter().flatten().count(), 50);
        assert!(refusals[250..].iter().all(Option::is_none));
    }
}

//! Finds which element of a stack trace is which captured frame.
//!
//! Mostly there is only one way to put the frames into the trace in order. If methods call
//! themselves and frames are missing, there are several: then the frames belong either to the
//! beginning of the trace, next to the throw, or to its end, at the last frame that the exception
//! has left. Of the two, only the one that leaves no gap counts. If neither does, a frame that may
//! belong to one of several calls is assigned to none.

/// Where a captured frame is in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    At(usize),
    /// Its method is not in the trace: the trace was cut, or the method is a helper that rethrew
    /// the exception.
    Outside,
    /// It may be one of several elements.
    Unknown,
}

/// What is known of the captured frames.
pub(super) struct Known {
    /// The number of frames.
    pub(super) frames: usize,
    /// Whether frames are known to be missing in front of the first one.
    pub(super) is_lost: bool,
    /// Whether frames are known to be missing among them, or not all are of this trace; then only
    /// the first ones follow it.
    pub(super) is_mixed: bool,
    /// The index in the trace at which the frames begin that the exception has not left.
    pub(super) end: usize,
}

/// The places of all frames. `is` says whether a frame may be an element of the trace, `has_probes`
/// which elements would have been captured.
pub(super) fn places(
    known: &Known,
    trace: usize,
    is: impl Fn(usize, usize) -> bool,
    has_probes: impl Fn(usize) -> bool,
) -> Vec<Place> {
    let first = forward(known.frames, trace, &is);
    let last = backward(known.frames, known.end, &is);
    let place = |at: &Option<usize>| at.map_or(Place::Outside, Place::At);
    if first == last {
        return first.iter().map(place).collect();
    }
    // If there are more frames than elements, the trace was cut.
    let is_cut =
        first.last() == Some(&None) && (0..trace).any(|element| is(known.frames - 1, element));
    let is_gap = |from: usize, to: usize| (from..to).any(&has_probes);
    let from_first =
        !known.is_lost && (known.is_mixed || is_close(0, first.iter().flatten().copied(), &is_gap));
    let reaches_end = last
        .last()
        .is_some_and(|at| at.is_some_and(|at| at < known.end && !is_gap(at + 1, known.end)));
    let from_last = reaches_end
        && !known.is_mixed
        && !is_cut
        && last
            .iter()
            .flatten()
            .next()
            .is_some_and(|&at| is_close(at, last.iter().flatten().copied(), &is_gap));
    let chosen = match (from_first, from_last) {
        (true, _) => first,
        (false, true) => last,
        (false, false) => {
            let both = first.iter().zip(&last);
            let agreed = both.map(|(first, last)| match first == last {
                true => place(first),
                false => Place::Unknown,
            });
            return agreed.collect();
        }
    };
    chosen.iter().map(place).collect()
}

/// Places each frame as near to the throw as possible.
fn forward(frames: usize, trace: usize, is: &impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let mut from = 0;
    let place = |frame| {
        let at = (from..trace).find(|&element| is(frame, element))?;
        from = at + 1;
        Some(at)
    };
    (0..frames).map(place).collect()
}

/// Places each frame as near to the end as possible.
fn backward(frames: usize, end: usize, is: &impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let mut to = end;
    let place = |frame| {
        let at = (0..to).rev().find(|&element| is(frame, element))?;
        to = at;
        Some(at)
    };
    let mut places: Vec<_> = (0..frames).rev().map(place).collect();
    places.reverse();
    places
}

/// Whether there is no gap in front of any of these places.
fn is_close(
    mut from: usize,
    places: impl IntoIterator<Item = usize>,
    is_gap: &impl Fn(usize, usize) -> bool,
) -> bool {
    places.into_iter().all(|at| {
        let is_close = !is_gap(from, at);
        from = at + 1;
        is_close
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The frame that each element of a trace was matched with. Methods are letters; those of the
    /// JDK, which have no probes, are upper case. Frames are letters as well; those whose place is
    /// not known are left out.
    fn placed(trace: &str, end: usize, frames: &str, is_lost: bool) -> String {
        let (trace, frames): (Vec<char>, Vec<char>) =
            (trace.chars().collect(), frames.chars().collect());
        let known = Known {
            frames: frames.len(),
            is_lost,
            is_mixed: false,
            end,
        };
        let is = |frame: usize, element: usize| frames[frame] == trace[element];
        let has_probes = |element: usize| trace[element].is_lowercase();
        let mut told = vec!['.'; trace.len()];
        for place in places(&known, trace.len(), is, has_probes) {
            if let Place::At(at) = place {
                told[at] = trace[at];
            }
        }
        told.into_iter().collect()
    }

    #[test]
    fn frames_are_where_they_leave_no_gap() {
        for (trace, end, frames, is_lost, expected) in [
            ("abJcm", 5, "abcm", false, "ab.cm"),
            // Helpers are not in any trace.
            ("abcm", 4, "abhcm", false, "abcm"),
            // A complete recursion, and one of which the first frames are missing.
            ("rrrm", 4, "hrhrhrm", false, "rrrm"),
            ("rrrm", 4, "hrhrm", false, ".rrm"),
            ("bcbcbcm", 7, "hcbhcm", false, "...cbcm"),
            ("bcbcbcm", 7, "hcbhcm", true, "...cbcm"),
            // A method that runs since before it had probes.
            ("rrm", 3, "r", false, "r.."),
            // Frames that the exception has not left.
            ("rrrrm", 3, "hrr", true, ".rr.."),
            ("rrrrm", 3, "rrr", false, "rrr.."),
            // A cause was caught on its way.
            ("rrr", 3, "rr", false, "rr."),
            ("rrr", 3, "rr", true, ".rr"),
            // The trace was cut.
            ("rrr", 3, "rrrrrm", false, "rrr"),
            ("rrr", 3, "rrrrr", false, "rrr"),
            ("brr", 3, "rrrrr", true, "..."),
            ("brbr", 4, "hrbrbm", true, "...."),
            ("rrr", 3, "rrm", true, "..."),
            // There is more than one gap: frames with a single candidate are certain.
            ("acrbrm", 6, "arm", false, "a....m"),
            // A helper that has also called the failing method.
            ("abhm", 4, "hbm", false, "...m"),
        ] {
            let told = placed(trace, end, frames, is_lost);
            assert_eq!(told, expected, "{frames} in {trace}");
        }
    }
}

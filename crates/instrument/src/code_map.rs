//! Where old code is in new code.
//!
//! Code between two fragments moves as a whole, so this is a short list of runs.

use crate::SkipReason;

/// Where the old instructions are in the new code.
#[derive(Debug, Default)]
pub struct CodeMap {
    /// The runs, by rising offset: one begins wherever the distance between old and new code
    /// changes. The first begins at 0; the last stands for the end.
    pub runs: Vec<Run>,
}

/// Old code that moves as a whole, up to the next run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Run {
    /// The offset of its first instruction in the old code.
    pub old: usize,
    /// Where jumps to that instruction lead in the new code. Fragments before the instruction come
    /// after this offset, unless they belong to the previous instruction.
    pub label: usize,
    /// The offset of the instruction itself in the new code.
    pub insn: usize,
}

impl Run {
    /// A run of old code from `old` on that is to stand at `new`.
    pub fn at(old: usize, new: usize) -> Self {
        Self {
            old,
            label: new,
            insn: new,
        }
    }
}

impl CodeMap {
    /// Records that everything moves behind `shift` bytes of entry code.
    pub fn shift(&mut self, old_len: usize, shift: usize) {
        self.runs.clear();
        self.runs
            .extend([0, old_len].map(|old| Run::at(old, old + shift)));
    }

    /// Whether everything stays where it is.
    pub fn is_identity(&self) -> bool {
        self.runs.len() == 2 && self.runs.iter().all(|run| run.insn == run.old)
    }

    /// Where the old body ends in the new code.
    pub fn body_end(&self) -> usize {
        self.runs.last().map_or(0, |end| end.label)
    }

    /// Looks up offsets; this is fastest if they rise.
    pub fn lookup(&self) -> Lookup<'_> {
        Lookup {
            runs: &self.runs,
            at: 0,
            run: Run::default(),
            len: 0,
            next_label: 0,
        }
    }
}

/// Finds offsets in a [`CodeMap`].
#[derive(Debug, Clone, Copy)]
pub struct Lookup<'m> {
    runs: &'m [Run],
    /// The run that was looked up last: its index, the run itself, its length in the old code (0 if
    /// nothing was looked up yet), and the label of the next run.
    at: usize,
    run: Run,
    len: usize,
    next_label: usize,
}

impl Lookup<'_> {
    /// Finds the run of an old offset; returns the offset's distance from the run's start.
    #[inline]
    fn find(&mut self, old: usize) -> Result<usize, SkipReason> {
        let within = old.wrapping_sub(self.run.old);
        if within < self.len {
            return Ok(within);
        }
        self.search(old)
    }

    fn search(&mut self, old: usize) -> Result<usize, SkipReason> {
        let runs = self.runs;
        if runs.last().is_none_or(|end| old > end.old) {
            return Err(SkipReason::MALFORMED);
        }
        // Usually the offset lies in one of the next runs.
        let mut at = if old < self.run.old { 0 } else { self.at };
        let ahead = runs.get(at + 1..).unwrap_or(&[]);
        let near = ahead
            .iter()
            .take(8)
            .take_while(|run| run.old <= old)
            .count();
        at += near;
        if near == 8 {
            at = runs.partition_point(|run| run.old <= old).saturating_sub(1);
        }
        self.run = *runs.get(at).ok_or(SkipReason::MALFORMED)?;
        self.at = at;
        // The last run is only the end.
        let next = runs.get(at + 1);
        self.len = next.map_or(1, |next| next.old.saturating_sub(self.run.old));
        self.next_label = next.map_or(usize::MAX, |next| next.label);
        Ok(old - self.run.old)
    }

    /// Where jumps to `old` lead, and where ranges begin or end. Fragments at `old` come after this
    /// offset, unless they belong to the previous instruction. For offset 0, it is behind the entry
    /// code.
    #[inline]
    pub fn label(&mut self, old: usize) -> Result<usize, SkipReason> {
        Ok(match self.find(old)? {
            0 => self.run.label,
            within => self.run.insn + within,
        })
    }

    /// The offset of the instruction at `old` itself, behind any fragments.
    #[inline]
    pub fn insn(&mut self, old: usize) -> Result<usize, SkipReason> {
        Ok(self.find(old)? + self.run.insn)
    }

    /// The new offset of `old` for a debugger's tables, which may point into instructions. The
    /// entry code counts as part of the first line.
    #[inline]
    pub fn debug(&mut self, old: usize) -> Result<usize, SkipReason> {
        if old == 0 {
            return Ok(0);
        }
        // A switch may have become shorter.
        Ok(self.label(old)?.min(self.next_label))
    }
}

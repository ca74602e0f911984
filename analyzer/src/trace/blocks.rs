//! Which basic blocks of which methods have run.

use super::Trace;
use hindsight_tracelog::trace::dictionary::{Method, TracedClass};
use std::collections::BTreeSet;

/// A basic block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The offset of its first instruction in the bytecode.
    pub offset: u16,
    /// The line number, or 0.
    pub line: u16,
    /// Whether it has run.
    pub has_run: bool,
}

/// The basic blocks of a method.
#[derive(Debug, Clone)]
pub struct Covered<'t> {
    /// The method's class.
    pub class: &'t TracedClass,
    /// The method.
    pub method: &'t Method,
    /// The method's blocks, by offset.
    pub blocks: Vec<Block>,
}

impl Covered<'_> {
    /// The number of blocks that have run.
    pub fn run(&self) -> usize {
        self.blocks.iter().filter(|block| block.has_run).count()
    }

    /// The lines of the blocks that have not run.
    pub fn missed_lines(&self) -> Vec<u16> {
        let missed = self.blocks.iter().filter(|block| !block.has_run);
        let lines: BTreeSet<u16> = missed.map(|block| block.line).collect();
        lines.into_iter().filter(|line| *line > 0).collect()
    }
}

/// All methods with blocks, in the order of the dictionary; none if coverage was not recorded.
pub fn covered(trace: &Trace) -> impl Iterator<Item = Covered<'_>> {
    let coverage = trace.coverage.as_ref();
    let classes = trace.log.dictionary.traced.iter();
    let methods = classes.flat_map(|class| class.methods.iter().map(move |of| (class, of)));
    methods.filter_map(move |(class, method)| {
        let (coverage, blocks) = coverage.zip(method.blocks.as_ref())?;
        let starts = (u64::from(blocks.first)..).zip(&blocks.starts);
        let blocks = starts.map(|(block, &(offset, line))| Block {
            offset,
            line,
            has_run: u32::try_from(block).is_ok_and(|block| coverage.has_run(block)),
        });
        Some(Covered {
            class,
            method,
            blocks: blocks.collect(),
        })
    })
}

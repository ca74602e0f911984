//! Rewrites some classes at a time, on all cores.

use super::listing::{Listed, Listing};
use super::plan::{Ids, Left, Plan, Verdict};
use crate::archive::{DEFLATED, STORED};
use flate2::Compression;
use flate2::bufread::{DeflateDecoder, DeflateEncoder};
use hindsight_instrument::SkippedMethods;
use std::io::Read;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The bytes of classes, packed and unpacked, that are in memory at a time; their results are not
/// included.
pub const MAX_WEIGHT: u64 = 16 << 20;

/// The bytes of the largest class file; a hostile archive may claim more.
pub const MAX_CLASS: u64 = 64 << 20;

/// The number of classes that a core takes at a time.
const CHUNK: usize = 8;

/// A class to be rewritten.
#[derive(Debug)]
pub struct Job {
    /// Its place, for people.
    pub path: String,
    input: Input,
    /// The method by which it is packed, also afterwards.
    method: u16,
    /// The result.
    pub done: Option<Done>,
}

/// The origin of a class.
#[derive(Debug)]
pub enum Input {
    /// The class itself.
    Plain(Vec<u8>),
    /// The class as it is in an archive.
    Packed {
        /// The content, packed.
        bytes: Vec<u8>,
        /// The method: [`STORED`] or [`DEFLATED`].
        method: u16,
        /// The bytes of the class.
        size: u64,
        /// The CRC-32 of the class.
        crc: u32,
    },
    /// The class cannot be read.
    Unreadable(Left),
}

/// The result for a class.
#[derive(Debug)]
pub struct Done {
    /// What became of it.
    pub verdict: Verdict,
    /// The new class, packed like the old one; `None` if the old one stays.
    pub content: Option<Content>,
    /// The text that is printed about it.
    pub listed: Listed,
}

/// The content of an archive's entry.
#[derive(Debug)]
pub struct Content {
    /// The content, packed.
    pub bytes: Vec<u8>,
    /// The bytes of the unpacked content.
    pub size: u64,
    /// The CRC-32 of the unpacked content.
    pub crc: u32,
}

impl Done {
    /// Whether the class has new code.
    pub fn is_rewritten(&self) -> bool {
        matches!(self.verdict, Verdict::Rewritten(_))
    }
}

impl Job {
    /// A class that is not processed yet.
    pub fn new(path: String, input: Input) -> Job {
        let method = match input {
            Input::Packed { method, .. } => method,
            Input::Plain(_) | Input::Unreadable(_) => STORED,
        };
        Job {
            path,
            input,
            method,
            done: None,
        }
    }

    /// The bytes that it takes in memory.
    pub fn weight(&self) -> u64 {
        match &self.input {
            Input::Plain(bytes) => bytes.len() as u64,
            Input::Packed { bytes, size, .. } => bytes.len() as u64 + size,
            Input::Unreadable(_) => 0,
        }
    }
}

/// How classes are rewritten and shown.
#[derive(Debug, Clone, Copy)]
pub struct Orders<'a> {
    /// The rules for rewriting.
    pub plan: &'a Plan,
    /// The rules for printing.
    pub listing: &'a Listing,
    /// Whether the new classes are needed.
    pub writing: bool,
}

/// Rewrites classes. Their members get numbers from `next` on, in order.
///
/// A class must be rewritten to know how many numbers it takes, and needs these to be rewritten. So
/// it is done twice: that is faster than rewriting one after the other, and packing takes longer.
pub fn rewrite(jobs: &mut [Job], orders: Orders<'_>, next: &mut Ids) {
    parallel(jobs, |job| {
        let verdict = match unpack(&mut job.input) {
            Err(reason) => left(None, reason),
            Ok(class) => orders.plan.rewrite(class, Ids::default()),
        };
        job.done = Some(Done {
            verdict,
            content: None,
            listed: Listed::default(),
        });
    });

    let mut firsts = Vec::with_capacity(jobs.len());
    for job in jobs.iter_mut() {
        firsts.push(*next);
        let Some(done) = &mut job.done else { continue };
        if let Verdict::Rewritten(rewritten) = &done.verdict {
            match next.after(rewritten) {
                Some(ids) => *next = ids,
                None => done.verdict = left(Some(&rewritten.class_name), Left::OutOfIds),
            }
        }
    }

    let mut numbered: Vec<_> = jobs.iter_mut().zip(firsts).collect();
    parallel(&mut numbered, |(job, first)| finish(job, *first, orders));
}

fn left(class: Option<&str>, reason: Left) -> Verdict {
    Verdict::Left {
        class: class.map(|class| class.replace('/', ".")),
        reason,
        methods: SkippedMethods::default(),
    }
}

/// Numbers a class that is rewritten, lists and packs it.
fn finish(job: &mut Job, first: Ids, orders: Orders<'_>) {
    let (Some(done), Input::Plain(old)) = (&mut job.done, &job.input) else {
        return;
    };
    if first != Ids::default() && matches!(done.verdict, Verdict::Rewritten(_)) {
        done.verdict = orders.plan.rewrite(old, first);
    }
    done.listed = orders.listing.render(&job.path, old, &done.verdict);
    if let Verdict::Rewritten(rewritten) = &mut done.verdict
        // The tally does not need the class.
        && let Some(new) = rewritten.class.take()
        && orders.writing
    {
        done.content = Some(Content {
            size: new.len() as u64,
            crc: crc32fast::hash(&new),
            bytes: match job.method {
                DEFLATED => deflate(&new),
                _ => new,
            },
        });
    }
}

/// Unpacks a class in place.
fn unpack(input: &mut Input) -> Result<&[u8], Left> {
    if let Input::Packed {
        bytes,
        method,
        size,
        crc,
    } = input
    {
        let class = match *method {
            STORED => std::mem::take(bytes),
            DEFLATED => inflate(bytes, *size).ok_or(Left::Unpackable)?,
            method => return Err(Left::Method(method)),
        };
        if class.len() as u64 != *size || crc32fast::hash(&class) != *crc {
            return Err(Left::Unpackable);
        }
        *input = Input::Plain(class);
    }
    match input {
        Input::Plain(class) => Ok(class),
        Input::Unreadable(reason) => Err(*reason),
        Input::Packed { .. } => Err(Left::Unpackable),
    }
}

/// Unpacks a content of `size` bytes; `None` if it has another size.
pub fn inflate(bytes: &[u8], size: u64) -> Option<Vec<u8>> {
    // The claimed size is bounded by the caller.
    let mut out = Vec::with_capacity(usize::try_from(size).ok()?);
    let decoder = DeflateDecoder::new(bytes);
    decoder.take(size + 1).read_to_end(&mut out).ok()?;
    (out.len() as u64 == size).then_some(out)
}

/// Packs a content.
pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / 2);
    let mut encoder = DeflateEncoder::new(bytes, Compression::default());
    // Neither the slice nor the vector can fail.
    let _ = encoder.read_to_end(&mut out);
    out
}

/// Does the same work for all, on all cores.
fn parallel<T: Send>(all: &mut [T], work: impl Fn(&mut T) + Sync) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(all.len().div_ceil(CHUNK));
    if threads < 2 {
        all.iter_mut().for_each(work);
        return;
    }
    let queue = Mutex::new(all.chunks_mut(CHUNK));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(chunk) = next() {
                    chunk.iter_mut().for_each(&work);
                }
            });
        }
    });
}

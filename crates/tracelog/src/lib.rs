//! The formats of recordings: what the agent writes and the analyzer reads.
//!
//! There are two: the **crash file** (`crash-NNNN.hsc`), one failure with the
//! frames it passed through and the objects they referred to, described here;
//! and the **trace**, all calls and writes of a run, described in [`trace`].
//!
//! - [`crash`] is the vocabulary: [`crash::Meta`], [`crash::Failure`],
//!   [`crash::ClassInfo`], [`crash::Object`], [`crash::Value`].
//! - [`plan`] is what the analyzer tells the agent beforehand: a file of its own.
//! - [`record`] frames, compresses and checksums one block of bytes.
//! - [`writer`] turns the vocabulary into records, [`reader`] turns a file's
//!   bytes back into a [`reader::Crash`].
//!
//! **Invariant:** no I/O here. The agent writes files, the analyzer reads
//! them (a trace by [`trace::Source`]), tests use a `Vec<u8>`.
//!
//! **Invariant:** reading what was written gives the same values.
//!
//! **Invariant:** a file without its [`record::Kind::End`] record is never
//! taken for whole; what stands before the damage is still read.
//!
//! # Layout of a crash file
//!
//! All integers are little-endian. A file is a header and a run of records:
//!
//! ```text
//! header  "HSCRASH\n"  version:u32  crc32(of the 12 bytes before):u32
//! record  kind:u32  raw_len:u32  stored_len:u32  crc32(payload):u32
//!         crc32(of the 16 bytes before):u32  payload[stored_len]
//! ```
//!
//! A payload is raw DEFLATE of `raw_len` bytes of MessagePack. DEFLATE, not
//! zstd, because emitted tests read crash files with nothing but the JDK's
//! `java.util.zip`. Structures are MessagePack arrays in the order of their
//! Rust fields; new fields go to the end and are optional for the reader.
//!
//! Order of records: `Meta`, `Failure`, any number of `Classes` and `Objects`
//! (a class stands before the objects that use it), in the crash files of emitted
//! tests `Origins` if there are any and `Unrestored` if they were run, `End`.
//!
//! `Origins` ([`crash::Origin`]) is a list of `[name, found]`. It tells a test which lambda or
//! anonymous class a recorded name means where an edited program numbers them otherwise:
//!
//! ```text
//! Main$1                  Main$1/0/5f3a9c21,77be0012/0b9c4d1e
//! Main.lambda$keep$0(I)V  lambda$keep$0/0/5f3a9c21/static
//! ```
//!
//! Behind the name stand its place in its group, the digests of the code of all in the group (of more than
//! eight its own, `+`, and one of all others), and what all in the group have in common. What
//! is digested how is known to the replay library alone (`Numbered`, `ClassShape`).
//!
//! `Unrestored` is a list of names of classes: when the tests were made, objects of these could not be restored,
//! and the tests reproduced all the same. Where objects of others cannot be, the program has changed, and a test
//! that went on without them could pass while the bug is there.
//!
//! # Versions
//!
//! - 1: first format.

#![forbid(unsafe_code)]

pub mod crash;
pub mod plan;
pub mod reader;
pub mod record;
pub mod trace;
pub mod writer;

/// The version this crate writes, and the newest that it reads.
pub const VERSION: u32 = 1;

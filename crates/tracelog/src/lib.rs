//! The formats of recordings: what the agent writes and the analyzer reads.
//!
//! There are two: the **crash file** (`crash-NNNN.hsc`), one failure with the frames it passed
//! through and the objects they referred to, described here; and the **trace**, all calls and
//! writes of a run, described in [`trace`].
//!
//! - [`crash`] is the vocabulary of crash files: [`crash::Meta`], [`crash::Failure`],
//!   [`crash::ClassInfo`], [`crash::Object`], [`crash::Value`].
//! - [`record`] frames, compresses and checksums one block of bytes.
//! - [`writer`] turns the vocabulary into records, [`reader`] turns a file's bytes back into a
//!   [`reader::Crash`].
//! - [`trace`] is the trace log.
//! - [`plan`] is a file of its own: what the analyzer knows of methods, which the agent reads
//!   before they run.
//!
//! **Invariant:** no I/O here. The agent writes files, the analyzer reads them (a trace by
//! [`trace::Source`]), tests use a `Vec<u8>`.
//!
//! **Invariant:** reading what was written gives the same values.
//!
//! **Invariant:** a file without its [`record::Kind::End`] record is never taken for whole; what
//! stands before the damage is still read.
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
//! A payload is raw DEFLATE of `raw_len` bytes of MessagePack. It is DEFLATE, not zstd, because
//! emitted tests read crash files with nothing but the JDK's `java.util.zip`. Structures are
//! MessagePack arrays in the order of their Rust fields; new fields go to the end and are optional
//! for the reader.
//!
//! Order of records: `Meta`, `Failure`, any number of `Classes` and `Objects` (a class stands
//! before the objects that use it), then `End`. In the crash files of emitted tests, `Origins` (if
//! there are any) and `Unrestored` (if the tests were run) stand before `End`.
//!
//! `Origins` ([`crash::Origin`]) is a list of `[name, found]`. It shows a test which lambda or
//! anonymous class a recorded name means if an edited program numbers them differently:
//!
//! ```text
//! Main$1                  Main$1/0/5f3a9c21,77be0012/0b9c4d1e
//! Main.lambda$keep$0(I)V  lambda$keep$0/0/5f3a9c21/static
//! ```
//!
//! After the name come its place in its group, the digests of the code of all members of the group
//! (in a group of more than eight: its own digest, `+`, and one digest of all others), and what all
//! members have in common. Only the replay library (`Numbered`, `ClassShape`) defines what is
//! digested and how.
//!
//! `Unrestored` is a list of names of classes whose objects could not be restored when the tests
//! were made, although the tests reproduced the failure. If objects of other classes cannot be
//! restored later, the program has changed, and a test that went on without them could pass while
//! the bug is there.
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

/// The version that this crate writes, and the newest that it reads.
pub const VERSION: u32 = 1;

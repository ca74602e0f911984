//! The trace log: every call, every write to the heap, and the objects and values involved.
//!
//! A trace is a directory of files:
//!
//! - `segment-NNNNNN.hst`: **blocks** of events, packed,
//! - `dictionary.hsd`: what the numbers in events mean,
//! - `coverage.hsb`: which basic blocks have run ([`coverage`]), if that was asked for,
//! - `live-NNNN.hsl`: **chunks** of events as threads write them, not packed. The recorder removes
//!   them at the end; if it could not, they hold the last events of each thread.
//!
//! The path of an event: a probe stores it in its thread's [`chunk`], a thread of the recorder
//! packs full chunks into [`block`]s ([`Packer`]), and [`Log`] reads both ([`Unpacker`]).
//!
//! - [`kind`] is the vocabulary; [`Event`] is an event as it is read.
//! - [`dictionary`] names classes, methods and fields.
//! - [`chunk`] and [`block`] are the headers of both forms; `model` is what the packer (`pack`) and
//!   the unpacker (`unpack`) of a block both expect next.
//! - [`coverage`] is the file of the basic blocks that have run.
//! - [`recap`] finds the calls that are active where the kept part of a bounded trace begins.
//! - [`Log`] (`log`) finds blocks and merges their events; [`Filter`] picks blocks by their
//!   indexes.
//! - `error` is what can be wrong with a trace.
//!
//! **Invariant:** unpacking what was packed gives the same events.
//!
//! **Invariant:** hostile bytes give an error; memory is bounded by the sizes in [`block`].
//!
//! # Streams, threads and stamps
//!
//! A *stream* is what one platform thread has written. It may have carried virtual threads, so
//! [`kind::Kind::Switch`] says to which thread the next events belong; each block says so in its
//! header for its first events. A *stamp* is the count of a clock that all threads share. A thread
//! takes a new one in three cases: when it begins a chunk, when it turns to another virtual thread,
//! and before it records a write to an object (or static field), or the content of an array, if
//! another thread has written to it last, or at a later stamp. So writes to one object are in the
//! order of their stamps if the program orders them by locks or volatile fields; calls on different
//! threads are only ordered as far as that.
//!
//! # Segments
//!
//! All integers are little-endian. A segment is a header and a run of blocks:
//!
//! ```text
//! header  "HSTRACE\n"  version:u32  crc32(of the 12 bytes before):u32
//! block   "HSBK"  crc32(of all from here to the payload):u32
//!         stream:u64 sequence:u64 thread:u64 stamp:u64 last_stamp:u64 time:u64
//!         events:u32 raw_len:u32 plain_len:u32 stored_len:u32
//!         crc32(payload):u32 index_len:u32 lost:u64 flags:u32 0:u32
//!         index[index_len] payload[stored_len]
//! index   count id.. (methods) count id.. (fields) count id.. (threads), each
//!         the difference to the one before, as varints; 512 bytes, a bit for
//!         each object by the upper 12 bits of its number times
//!         0x9e3779b97f4a7c15, or nothing if there is no object
//! payload zstd of: the lengths of five columns as varints, the columns
//! ```
//!
//! Of the flags, bit 0 says that the thread of the first events is virtual, and bit 1 that the block
//! is a recap (below).
//!
//! Blocks are found by going from header to header; after damage, by searching for the next sound
//! header. No block needs another one.
//!
//! Where the oldest segments are deleted to keep to a bound, each remaining segment begins with
//! *recaps*: for each stream that has not ended, the calls that are active behind its last block so
//! far ([`recap`]). The texts of old objects are recorded again now and then, by
//! [`kind::Kind::Text`] events whose objects are not new.
//!
//! # Events
//!
//! An event is a tag, an id if it has one, references, ints, longs, and a text if it has one. Chunks
//! have it in the layout of [`kind::Layout`]. A reference is the object's class times 2^40 plus its
//! number; 0 is null, 1 an object without a number. The tag says the kind of the event
//! ([`kind::Kind`]) and how many values there are:
//!
//! ```text
//! tag      kind            id      references, ints, longs
//! 1-60     Enter           method  the tag less 1 is 10 times the references,
//! 61-120   More            method  plus 2 times the ints, plus the longs (0 or 1);
//! 121-180  Called          callee  likewise less 61 and less 121
//! 181-186  Exit            method
//! 187-192  Put             field   1 reference, the value
//! 193-198  PutStatic       field
//! 199-204  PutEarly        field
//! 205-210  Store           -       1 reference, 1 int, the value
//! 211-216  Get             field   as Put
//! 217-222  GetStatic       field
//! 223-228  Load            -       as Store
//! 229      Unwind          method  1 reference
//! 230      Bind            method  1 reference
//! 231      Caught          method  1 reference
//! 232      Object          -       1 reference, 1 int
//! 233      Text            -       1 reference, 2 ints, text
//! 234      Stamp           -       1 long
//! 235      Switch          -       1 int, 2 longs, text
//! 236      End             -       1 long
//! 237      Lost            -       1 long
//! 255      Going           method
//! ```
//!
//! Where there are six tags, they are in the order of what the value is: nothing, a reference, an
//! int, a long, a float (its bits in an int), a double (its bits in a long).
//!
//! # Columns
//!
//! 1. For each event its tag, and its id as a varint, if it has one. The tags from 238 on stand for
//!    exits, unwinds, binds and catches (in the order of their tags) whose id is that of the
//!    innermost call of the block, and is left out.
//! 2. A byte for each reference, except those of new objects ([`kind::Kind::Object`]): 0 for null,
//!    1 for `this` of the innermost call, 2 for the same as the last one at this place, 3 for the
//!    newest object, 8 and more for 8 plus the slot of a recent one; or 4, if it is none of these.
//! 3. The references that are coded as 4: the differences of class and number to the last reference
//!    at this place. New objects: the difference of the number to that of the newest object, minus
//!    one, and the class.
//! 4. Ints and longs, as differences to the last one at this place.
//! 5. Texts: the coder (0 for Latin-1, 1 for UTF-16, 2 for a secret, which has no bytes; for the
//!    content of arrays, 3 for elements of a primitive type and 4 for references, eight bytes
//!    each), the length in bytes as a varint, the bytes.
//!
//! Varints have seven bits in each byte, the lowest first; signed differences are zigzag-encoded
//! and wrap around.
//!
//! What one event refers to is relative to those before it in the block, at the beginning of which
//! all of this is 0 or empty:
//!
//! - *Calls*: an enter begins a call of its method, whose `this` is the first reference of the
//!   event, or null; a bind sets `this`. An exit or unwind ends the innermost call of its method
//!   and all deeper ones, or nothing if there is none. Where a new call would have 1,025 calls
//!   around it, the outer 512 are forgotten.
//! - *Places*: 4,096 of references and as many of numbers. An event's place is the upper 12 bits of
//!   the 32 of (id xor tag times 2^24) times `0x9e3779b1`; an event without an id uses that of the
//!   innermost method, or 0. References are at this place and those after it in their order, ints
//!   from 8 places further on, longs from 12, modulo 4,096.
//! - *Slots*: 128 of recent references, by the upper 7 bits of the 64 of the reference (class times
//!   2^40, plus number) times `0x9e3779b97f4a7c15`.
//! - Each reference in column 2 except null then becomes the last one at its place and in its slot.
//!   A new object becomes the newest, and nothing else.
//!
//! # Versions
//!
//! - 7: the dictionary says which method is behind a lambda.
//! - 6: texts of arrays, which are their elements, and of handles of fields.
//! - 5: the dictionary says which run it is, and its end how often an object had no number, and how
//!   many names were lost.
//! - 4: recaps, and texts of objects that are not new (older readers skip those); the end of the
//!   dictionary says how often the stack overflowed, and of which threads events were lost.
//! - 3: the end of the dictionary says how many segments and blocks there are, and has the checksum
//!   of `coverage.hsb`. Older versions are read as they were.
//! - 2: [`kind::Kind::Switch`] says if there was a pause, texts can be secret; the dictionary has
//!   blocks, when classes were defined, and which part of the run is recorded; `coverage.hsb`.
//! - 1: first format.

pub mod block;
pub mod chunk;
pub mod coverage;
pub mod dictionary;
mod error;
pub mod kind;
mod log;
mod model;
mod pack;
pub mod recap;
mod unpack;

pub use error::{Error, ErrorKind};
pub use log::{Block, Damage, Events, Filter, Live, Log, Missing, Reader, Source};
pub use pack::Packer;
pub use unpack::{Datum, Event, ObjectId, Unpacker};

/// The version that this crate writes, and the newest that it reads.
pub const VERSION: u32 = 7;

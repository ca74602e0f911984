//! Class files: read, examined, and written back.
//!
//! Reads every version of the format up to Java 25 (major version 69), borrowing from the bytes it
//! is given. References are to the chapters of *The Java Virtual Machine Specification, Java SE 25
//! Edition* (JVMS).
//!
//! - [`ClassFile`] (in `class`) is a parsed class: names resolved, members listed, every
//!   [`Attribute`] (`attribute`) at hand as raw bytes. [`ClassFile::assemble`] writes a class with
//!   some methods replaced and constants added. [`access`] names the flags.
//! - [`ConstantPool`] (`pool`) resolves constants; [`PoolBuilder`] (`pool_builder`) appends to it.
//!   Old indices keep their meaning, so code that is copied needs no change.
//! - [`Utf8`] (`mutf8`) is a name or string in the format's own encoding.
//! - [`MethodDescriptor`] and [`FieldType`] (`descriptor`) read descriptors.
//! - [`Code`] (`code`) is a method's body; [`Instructions`] (`insn`) iterates over its bytecode,
//!   driven by the one table in [`opcode`].
//! - [`frames`] reads stack maps, [`tables`] the debug tables of a body.
//! - [`Reader`] (`reader`) is a cursor over bytes; [`Error`] (`error`) is the one error of this
//!   crate.
//!
//! **Invariant:** no I/O, no `unsafe`, and no panic whatever the bytes.
//!
//! **Invariant:** no allocation is sized by a count that the bytes merely claim.
//!
//! **Invariant:** writing an untouched class gives the same bytes.
//!
//! ```
//! use hindsight_classfile::{ClassFile, Error};
//!
//! fn list(bytes: &[u8]) -> Result<(), Error> {
//!     let class = ClassFile::parse(bytes)?;
//!     for method in &class.methods {
//!         if let Some(code) = method.code(&class.pool)? {
//!             for insn in code.instructions() {
//!                 println!("{} {}", method.name, insn?.name());
//!             }
//!         }
//!     }
//!     assert_eq!(class.write(), bytes);
//!     Ok(())
//! }
//! # assert!(list(b"CAFE BABE").is_err());
//! ```
#![forbid(unsafe_code)]

pub mod access;
mod attribute;
mod class;
mod code;
mod descriptor;
mod error;
pub mod frames;
mod insn;
mod mutf8;
pub mod opcode;
mod pool;
mod pool_builder;
mod reader;
pub mod tables;

pub use attribute::{Attribute, Attributes};
pub use class::{Bootstrap, ClassFile, Member};
pub use code::{Code, Handler, Handlers};
pub use descriptor::{FieldType, MethodDescriptor, Parameters};
pub use error::{Error, ErrorKind};
pub use insn::{Insn, Instructions, Operand, Switch};
pub use mutf8::{Utf8, encode_mutf8};
pub use pool::{Constant, ConstantPool, MemberRef, tag};
pub use pool_builder::PoolBuilder;
pub use reader::Reader;

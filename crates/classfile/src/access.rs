//! Access and property flags (JVMS tables 4.1-B, 4.5-A, 4.6-A).

/// Visible everywhere.
pub const PUBLIC: u16 = 0x0001;
/// Visible in its class (and nest).
pub const PRIVATE: u16 = 0x0002;
/// Visible in its package and in subclasses.
pub const PROTECTED: u16 = 0x0004;
/// Belongs to the class, not to an instance.
pub const STATIC: u16 = 0x0008;
/// Never assigned after construction, or never overridden or subclassed.
pub const FINAL: u16 = 0x0010;
/// A method that takes its object's or class's monitor.
pub const SYNCHRONIZED: u16 = 0x0020;
/// `ACC_VOLATILE`: a field whose reads and writes are volatile.
pub const VOLATILE: u16 = 0x0040;
/// A method that the compiler made to bridge two signatures.
pub const BRIDGE: u16 = 0x0040;
/// A method whose last parameter takes any number of arguments.
pub const VARARGS: u16 = 0x0080;
/// Implemented outside of Java.
pub const NATIVE: u16 = 0x0100;
/// An interface, not a class.
pub const INTERFACE: u16 = 0x0200;
/// Has no implementation.
pub const ABSTRACT: u16 = 0x0400;
/// A method whose floating-point arithmetic is strict (JVMS 2.8), which before Java 17 was
/// optional.
pub const STRICT: u16 = 0x0800;
/// Does not occur in the source.
pub const SYNTHETIC: u16 = 0x1000;
/// An annotation interface.
pub const ANNOTATION: u16 = 0x2000;
/// An enum class, or a constant of one.
pub const ENUM: u16 = 0x4000;
/// The description of a module instead of a class.
pub const MODULE: u16 = 0x8000;

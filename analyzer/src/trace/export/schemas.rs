//! The tables that an export has, and their columns.

/// One row for each call, in the order in which they end.
///
/// `call` numbers calls by their beginnings; `parent` is the innermost recorded call that was
/// active on the same thread then. `ended` is `return`, `throw`, or `open` if its end is not in the
/// trace. `result` is what it returned or threw; integers are `boolean` (0, 1) to `long`, and
/// `char` by its code. A call that began before the kept part of a bounded trace has no object and
/// no arguments.
///
/// Where events of a thread were lost, its calls are taken to be active until one of their methods
/// records an event: deeper calls are `open` then. Until then `parent` and `depth` are a guess, and
/// if a method calls itself, the innermost known call is taken to be the one that ends. A call
/// whose beginning was lost has no row.
pub const CALLS: &str = "message calls {
    required int64 call;
    optional int64 parent;
    required int32 depth;
    required int64 thread;
    required boolean virtual;
    optional binary thread_name (STRING);
    required int64 stamp;
    required int32 method_id;
    optional binary class (STRING);
    optional binary method (STRING);
    optional binary descriptor (STRING);
    optional int64 this_object;
    optional binary this_class (STRING);
    required binary ended (STRING);
    optional int64 result_object;
    optional binary result_class (STRING);
    optional int64 result_integer;
    optional double result_real;
}";

/// One row for each argument that was recorded; `index` counts from 1.
pub const ARGUMENTS: &str = "message arguments {
    required int64 call;
    required int32 index;
    optional binary name (STRING);
    optional binary type (STRING);
    optional int64 object;
    optional binary class (STRING);
    optional int64 integer;
    optional double real;
}";

/// One row for each write, in the order of the log, by which `write` numbers them. `kind` is
/// `field`, `static`, `element`, or `unseen`: a call that writes by itself (`class` and `field`
/// name it, `object` is what it has written to, and [`UNSEEN`] has its arguments).
pub const WRITES: &str = "message writes {
    required int64 write;
    optional int64 call;
    required int64 thread;
    required int64 stamp;
    required binary kind (STRING);
    optional binary class (STRING);
    optional binary field (STRING);
    optional binary type (STRING);
    optional int64 object;
    optional binary object_class (STRING);
    optional int32 index;
    optional int64 value_object;
    optional binary value_class (STRING);
    optional int64 value_integer;
    optional double value_real;
}";

/// One row for each read, in the order of the log; none if reads were not recorded.
pub const READS: &str = "message reads {
    optional int64 call;
    required int64 thread;
    required int64 stamp;
    required binary kind (STRING);
    optional binary class (STRING);
    optional binary field (STRING);
    optional binary type (STRING);
    optional int64 object;
    optional binary object_class (STRING);
    optional int32 index;
    optional int64 value_object;
    optional binary value_class (STRING);
    optional int64 value_integer;
    optional double value_real;
}";

/// The values of calls that write by themselves: one row for the receiver, each argument and the
/// result, which `index` counts in this order from 0. The ranges of `System.arraycopy` are among
/// them.
pub const UNSEEN: &str = "message unseen {
    required int64 write;
    required int32 index;
    optional int64 object;
    optional binary class (STRING);
    optional int64 integer;
    optional double real;
}";

/// One row for each object, when it is first seen. `text` is that of strings (cut where the
/// recorder cut it), boxes, enum constants and classes; a lone surrogate is U+FFFD in it. `hash` is
/// the hash code of the whole text, if it was cut.
pub const OBJECTS: &str = "message objects {
    required int64 object;
    optional binary class (STRING);
    required int64 thread;
    required int64 stamp;
    optional int64 length;
    optional binary text (STRING);
    optional int32 hash;
}";

/// The contents of small arrays that unrecorded code has filled: one row for each element, by
/// `index`. `stamp` is the time when that was seen.
pub const ELEMENTS: &str = "message elements {
    required int64 object;
    required int64 stamp;
    required int32 index;
    optional int64 value_object;
    optional binary value_class (STRING);
    optional int64 value_integer;
    optional double value_real;
}";

/// One row for each basic block of the methods whose blocks are recorded; none if coverage was not
/// recorded. `offset` is in the bytecode; a block without a line has null.
pub const BLOCKS: &str = "message blocks {
    required int32 method_id;
    required binary class (STRING);
    required binary method (STRING);
    required binary descriptor (STRING);
    required int32 offset;
    optional int32 line;
    required boolean run;
}";

/// The names of the tables' files, with their schemas.
pub const TABLES: [(&str, &str); 8] = [
    ("calls", CALLS),
    ("arguments", ARGUMENTS),
    ("writes", WRITES),
    ("unseen", UNSEEN),
    ("reads", READS),
    ("objects", OBJECTS),
    ("elements", ELEMENTS),
    ("blocks", BLOCKS),
];

//! The tables that an export has, and their columns.

/// One row for each call, in the order in which they end.
///
/// `call` numbers calls by their beginnings; `parent` is the call on the same
/// thread that was going on then, of those that are recorded. `ended` is `return`,
/// `throw`, or `open` if its end is not in the trace. `result` is what it returned
/// or threw; integers are `boolean` (0, 1) to `long`, and `char` by its code. A call that
/// began before the kept part of a bounded trace has no object and no arguments.
///
/// Where events of a thread were lost, its calls are taken to go on until one of their methods tells
/// something: what is deeper is `open` then. Until then `parent` and `depth` are a guess, and where a
/// method calls itself, the innermost call that is known is taken to be the one that ends. A call whose
/// beginning was lost has no row.
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

/// One row for each argument that was told; `index` counts from 1.
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

/// One row for each write, in the order of the log, by which `write` numbers them. `kind` is `field`,
/// `static`, `element`, or `unseen`: a call that writes by itself (`class` and `field` name it, `object` is
/// what it has written to, and [`UNSEEN`] has what it was called with).
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

/// One row for each read, in the order of the log; none if that was not asked.
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

/// What calls that write by themselves were given, and have returned: one row for receiver, each argument
/// and result, which `index` counts in this order from 0. Ranges of `System.arraycopy` are in it.
pub const UNSEEN: &str = "message unseen {
    required int64 write;
    required int32 index;
    optional int64 object;
    optional binary class (STRING);
    optional int64 integer;
    optional double real;
}";

/// One row for each object, when it is seen first. `text` is that of strings (cut
/// where the recorder cut it), boxes, enum constants and classes; a lone surrogate
/// is U+FFFD in it. `hash` is the hash code of the whole text, if it was cut.
pub const OBJECTS: &str = "message objects {
    required int64 object;
    optional binary class (STRING);
    required int64 thread;
    required int64 stamp;
    optional int64 length;
    optional binary text (STRING);
    optional int32 hash;
}";

/// What was in small arrays that code which is not recorded has filled: one row for each element, by
/// `index`. `stamp` is when that was seen.
pub const ELEMENTS: &str = "message elements {
    required int64 object;
    required int64 stamp;
    required int32 index;
    optional int64 value_object;
    optional binary value_class (STRING);
    optional int64 value_integer;
    optional double value_real;
}";

/// One row for each basic block of the methods that say which have run; none if that
/// was not asked. `offset` is in the bytecode; a block that has no line has null.
pub const BLOCKS: &str = "message blocks {
    required int32 method_id;
    required binary class (STRING);
    required binary method (STRING);
    required binary descriptor (STRING);
    required int32 offset;
    optional int32 line;
    required boolean run;
}";

/// The tables with the names of their files.
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

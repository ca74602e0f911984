//! The instructions of the Java Virtual Machine (JVMS 6.5): the one table from which everything
//! about their layout is derived.

/// The operands that follow an opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// No operands.
    None,
    /// A signed byte.
    Byte,
    /// A signed 16-bit value.
    Short,
    /// A local variable in one byte; in two after `wide`.
    Local,
    /// No operands: the opcode implies the local variable.
    LocalAt(u8),
    /// A local variable and the amount to add to it, in one byte each; in two after `wide`.
    Iinc,
    /// A constant's index in one byte.
    Constant1,
    /// A constant's index in two bytes.
    Constant2,
    /// A jump in two bytes.
    Branch2,
    /// A jump in four bytes.
    Branch4,
    /// Padding, the default jump, the lowest and the highest key, and the jumps.
    TableSwitch,
    /// Padding, the default jump, a count, and pairs of key and jump.
    LookupSwitch,
    /// A constant's index, a count of argument slots, and a zero byte.
    InvokeInterface,
    /// A constant's index and two zero bytes.
    InvokeDynamic,
    /// The type of a primitive array's elements, in one byte.
    ArrayType,
    /// A constant's index and a number of dimensions.
    MultiArray,
    /// Another opcode, whose local variable has two bytes.
    Wide,
    /// An opcode that a class file may not have.
    Invalid,
}

impl Form {
    /// The length of an instruction, if its opcode decides it.
    pub const fn fixed_len(self) -> Option<usize> {
        match self {
            Self::None | Self::LocalAt(_) => Some(1),
            Self::Byte | Self::Local | Self::Constant1 | Self::ArrayType => Some(2),
            Self::Short | Self::Constant2 | Self::Branch2 | Self::Iinc => Some(3),
            Self::MultiArray => Some(4),
            Self::Branch4 | Self::InvokeInterface | Self::InvokeDynamic => Some(5),
            Self::TableSwitch | Self::LookupSwitch | Self::Wide | Self::Invalid => None,
        }
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Opcode {
    /// The instruction's name in the specification.
    pub name: &'static str,
    /// The form of its operands.
    pub form: Form,
}

/// The [`Form::fixed_len`] of each opcode, or 0: the only property that every iteration over
/// instructions needs.
pub(crate) static LENGTHS: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut opcode = 0;
    while opcode < 256 {
        // No instruction of fixed length has more than five bytes.
        lengths[opcode] = match OPCODES[opcode].form.fixed_len() {
            Some(len) => len as u8,
            None => 0,
        };
        opcode += 1;
    }
    lengths
};

macro_rules! opcodes {
    ($($code:literal $constant:ident $name:literal $form:ident $(($local:literal))?;)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub const $constant: u8 = $code;
        )*

        /// The table, indexed by opcode.
        pub static OPCODES: [Opcode; 256] = {
            let mut table = [Opcode { name: "(invalid)", form: Form::Invalid }; 256];
            $(table[$code] = Opcode { name: $name, form: Form::$form $(($local))? };)*
            table
        };
    };
}

opcodes! {
    0x00 NOP "nop" None;
    0x01 ACONST_NULL "aconst_null" None;
    0x02 ICONST_M1 "iconst_m1" None;
    0x03 ICONST_0 "iconst_0" None;
    0x04 ICONST_1 "iconst_1" None;
    0x05 ICONST_2 "iconst_2" None;
    0x06 ICONST_3 "iconst_3" None;
    0x07 ICONST_4 "iconst_4" None;
    0x08 ICONST_5 "iconst_5" None;
    0x09 LCONST_0 "lconst_0" None;
    0x0a LCONST_1 "lconst_1" None;
    0x0b FCONST_0 "fconst_0" None;
    0x0c FCONST_1 "fconst_1" None;
    0x0d FCONST_2 "fconst_2" None;
    0x0e DCONST_0 "dconst_0" None;
    0x0f DCONST_1 "dconst_1" None;
    0x10 BIPUSH "bipush" Byte;
    0x11 SIPUSH "sipush" Short;
    0x12 LDC "ldc" Constant1;
    0x13 LDC_W "ldc_w" Constant2;
    0x14 LDC2_W "ldc2_w" Constant2;
    0x15 ILOAD "iload" Local;
    0x16 LLOAD "lload" Local;
    0x17 FLOAD "fload" Local;
    0x18 DLOAD "dload" Local;
    0x19 ALOAD "aload" Local;
    0x1a ILOAD_0 "iload_0" LocalAt(0);
    0x1b ILOAD_1 "iload_1" LocalAt(1);
    0x1c ILOAD_2 "iload_2" LocalAt(2);
    0x1d ILOAD_3 "iload_3" LocalAt(3);
    0x1e LLOAD_0 "lload_0" LocalAt(0);
    0x1f LLOAD_1 "lload_1" LocalAt(1);
    0x20 LLOAD_2 "lload_2" LocalAt(2);
    0x21 LLOAD_3 "lload_3" LocalAt(3);
    0x22 FLOAD_0 "fload_0" LocalAt(0);
    0x23 FLOAD_1 "fload_1" LocalAt(1);
    0x24 FLOAD_2 "fload_2" LocalAt(2);
    0x25 FLOAD_3 "fload_3" LocalAt(3);
    0x26 DLOAD_0 "dload_0" LocalAt(0);
    0x27 DLOAD_1 "dload_1" LocalAt(1);
    0x28 DLOAD_2 "dload_2" LocalAt(2);
    0x29 DLOAD_3 "dload_3" LocalAt(3);
    0x2a ALOAD_0 "aload_0" LocalAt(0);
    0x2b ALOAD_1 "aload_1" LocalAt(1);
    0x2c ALOAD_2 "aload_2" LocalAt(2);
    0x2d ALOAD_3 "aload_3" LocalAt(3);
    0x2e IALOAD "iaload" None;
    0x2f LALOAD "laload" None;
    0x30 FALOAD "faload" None;
    0x31 DALOAD "daload" None;
    0x32 AALOAD "aaload" None;
    0x33 BALOAD "baload" None;
    0x34 CALOAD "caload" None;
    0x35 SALOAD "saload" None;
    0x36 ISTORE "istore" Local;
    0x37 LSTORE "lstore" Local;
    0x38 FSTORE "fstore" Local;
    0x39 DSTORE "dstore" Local;
    0x3a ASTORE "astore" Local;
    0x3b ISTORE_0 "istore_0" LocalAt(0);
    0x3c ISTORE_1 "istore_1" LocalAt(1);
    0x3d ISTORE_2 "istore_2" LocalAt(2);
    0x3e ISTORE_3 "istore_3" LocalAt(3);
    0x3f LSTORE_0 "lstore_0" LocalAt(0);
    0x40 LSTORE_1 "lstore_1" LocalAt(1);
    0x41 LSTORE_2 "lstore_2" LocalAt(2);
    0x42 LSTORE_3 "lstore_3" LocalAt(3);
    0x43 FSTORE_0 "fstore_0" LocalAt(0);
    0x44 FSTORE_1 "fstore_1" LocalAt(1);
    0x45 FSTORE_2 "fstore_2" LocalAt(2);
    0x46 FSTORE_3 "fstore_3" LocalAt(3);
    0x47 DSTORE_0 "dstore_0" LocalAt(0);
    0x48 DSTORE_1 "dstore_1" LocalAt(1);
    0x49 DSTORE_2 "dstore_2" LocalAt(2);
    0x4a DSTORE_3 "dstore_3" LocalAt(3);
    0x4b ASTORE_0 "astore_0" LocalAt(0);
    0x4c ASTORE_1 "astore_1" LocalAt(1);
    0x4d ASTORE_2 "astore_2" LocalAt(2);
    0x4e ASTORE_3 "astore_3" LocalAt(3);
    0x4f IASTORE "iastore" None;
    0x50 LASTORE "lastore" None;
    0x51 FASTORE "fastore" None;
    0x52 DASTORE "dastore" None;
    0x53 AASTORE "aastore" None;
    0x54 BASTORE "bastore" None;
    0x55 CASTORE "castore" None;
    0x56 SASTORE "sastore" None;
    0x57 POP "pop" None;
    0x58 POP2 "pop2" None;
    0x59 DUP "dup" None;
    0x5a DUP_X1 "dup_x1" None;
    0x5b DUP_X2 "dup_x2" None;
    0x5c DUP2 "dup2" None;
    0x5d DUP2_X1 "dup2_x1" None;
    0x5e DUP2_X2 "dup2_x2" None;
    0x5f SWAP "swap" None;
    0x60 IADD "iadd" None;
    0x61 LADD "ladd" None;
    0x62 FADD "fadd" None;
    0x63 DADD "dadd" None;
    0x64 ISUB "isub" None;
    0x65 LSUB "lsub" None;
    0x66 FSUB "fsub" None;
    0x67 DSUB "dsub" None;
    0x68 IMUL "imul" None;
    0x69 LMUL "lmul" None;
    0x6a FMUL "fmul" None;
    0x6b DMUL "dmul" None;
    0x6c IDIV "idiv" None;
    0x6d LDIV "ldiv" None;
    0x6e FDIV "fdiv" None;
    0x6f DDIV "ddiv" None;
    0x70 IREM "irem" None;
    0x71 LREM "lrem" None;
    0x72 FREM "frem" None;
    0x73 DREM "drem" None;
    0x74 INEG "ineg" None;
    0x75 LNEG "lneg" None;
    0x76 FNEG "fneg" None;
    0x77 DNEG "dneg" None;
    0x78 ISHL "ishl" None;
    0x79 LSHL "lshl" None;
    0x7a ISHR "ishr" None;
    0x7b LSHR "lshr" None;
    0x7c IUSHR "iushr" None;
    0x7d LUSHR "lushr" None;
    0x7e IAND "iand" None;
    0x7f LAND "land" None;
    0x80 IOR "ior" None;
    0x81 LOR "lor" None;
    0x82 IXOR "ixor" None;
    0x83 LXOR "lxor" None;
    0x84 IINC "iinc" Iinc;
    0x85 I2L "i2l" None;
    0x86 I2F "i2f" None;
    0x87 I2D "i2d" None;
    0x88 L2I "l2i" None;
    0x89 L2F "l2f" None;
    0x8a L2D "l2d" None;
    0x8b F2I "f2i" None;
    0x8c F2L "f2l" None;
    0x8d F2D "f2d" None;
    0x8e D2I "d2i" None;
    0x8f D2L "d2l" None;
    0x90 D2F "d2f" None;
    0x91 I2B "i2b" None;
    0x92 I2C "i2c" None;
    0x93 I2S "i2s" None;
    0x94 LCMP "lcmp" None;
    0x95 FCMPL "fcmpl" None;
    0x96 FCMPG "fcmpg" None;
    0x97 DCMPL "dcmpl" None;
    0x98 DCMPG "dcmpg" None;
    0x99 IFEQ "ifeq" Branch2;
    0x9a IFNE "ifne" Branch2;
    0x9b IFLT "iflt" Branch2;
    0x9c IFGE "ifge" Branch2;
    0x9d IFGT "ifgt" Branch2;
    0x9e IFLE "ifle" Branch2;
    0x9f IF_ICMPEQ "if_icmpeq" Branch2;
    0xa0 IF_ICMPNE "if_icmpne" Branch2;
    0xa1 IF_ICMPLT "if_icmplt" Branch2;
    0xa2 IF_ICMPGE "if_icmpge" Branch2;
    0xa3 IF_ICMPGT "if_icmpgt" Branch2;
    0xa4 IF_ICMPLE "if_icmple" Branch2;
    0xa5 IF_ACMPEQ "if_acmpeq" Branch2;
    0xa6 IF_ACMPNE "if_acmpne" Branch2;
    0xa7 GOTO "goto" Branch2;
    0xa8 JSR "jsr" Branch2;
    0xa9 RET "ret" Local;
    0xaa TABLESWITCH "tableswitch" TableSwitch;
    0xab LOOKUPSWITCH "lookupswitch" LookupSwitch;
    0xac IRETURN "ireturn" None;
    0xad LRETURN "lreturn" None;
    0xae FRETURN "freturn" None;
    0xaf DRETURN "dreturn" None;
    0xb0 ARETURN "areturn" None;
    0xb1 RETURN "return" None;
    0xb2 GETSTATIC "getstatic" Constant2;
    0xb3 PUTSTATIC "putstatic" Constant2;
    0xb4 GETFIELD "getfield" Constant2;
    0xb5 PUTFIELD "putfield" Constant2;
    0xb6 INVOKEVIRTUAL "invokevirtual" Constant2;
    0xb7 INVOKESPECIAL "invokespecial" Constant2;
    0xb8 INVOKESTATIC "invokestatic" Constant2;
    0xb9 INVOKEINTERFACE "invokeinterface" InvokeInterface;
    0xba INVOKEDYNAMIC "invokedynamic" InvokeDynamic;
    0xbb NEW "new" Constant2;
    0xbc NEWARRAY "newarray" ArrayType;
    0xbd ANEWARRAY "anewarray" Constant2;
    0xbe ARRAYLENGTH "arraylength" None;
    0xbf ATHROW "athrow" None;
    0xc0 CHECKCAST "checkcast" Constant2;
    0xc1 INSTANCEOF "instanceof" Constant2;
    0xc2 MONITORENTER "monitorenter" None;
    0xc3 MONITOREXIT "monitorexit" None;
    0xc4 WIDE "wide" Wide;
    0xc5 MULTIANEWARRAY "multianewarray" MultiArray;
    0xc6 IFNULL "ifnull" Branch2;
    0xc7 IFNONNULL "ifnonnull" Branch2;
    0xc8 GOTO_W "goto_w" Branch4;
    0xc9 JSR_W "jsr_w" Branch4;
}

/// Whether the instruction after this one is reached only by a jump.
pub fn ends_flow(opcode: u8) -> bool {
    matches!(
        opcode,
        GOTO | GOTO_W | TABLESWITCH | LOOKUPSWITCH | ATHROW | RET | IRETURN..=RETURN
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_agrees_with_the_specification() {
        assert_eq!(
            OPCODES
                .iter()
                .filter(|row| row.form != Form::Invalid)
                .count(),
            202
        );
        assert_eq!(OPCODES[0xb9].name, "invokeinterface");
        assert_eq!((JSR_W, OPCODES[0x4e].form), (0xc9, Form::LocalAt(3)));
        assert_eq!(LENGTHS[usize::from(MULTIANEWARRAY)], 4);
    }
}

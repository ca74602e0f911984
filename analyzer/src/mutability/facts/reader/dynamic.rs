//! Calls that bootstrap methods link: lambdas, string concatenation, methods of records.

use super::Reader;
use super::asked::{EQUALS, HASH_CODE, TO_STRING};
use crate::mutability::facts::{Lambda, NONE, Op, Var};
use crate::mutability::values;
use crate::program::calls::{Dispatch, Site};
use crate::program::ssa::Insn;
use hindsight_classfile::{Bootstrap, Constant, FieldType, Utf8, access};

impl Reader<'_> {
    /// The method that a lambda runs, from the method handle in its bootstrap arguments, and
    /// whether it makes a new object.
    pub(super) fn implementation(&self, bootstrap: &Bootstrap) -> Option<(Site, bool)> {
        let Constant::MethodHandle { reference, .. } = self.pool.get(bootstrap.method).ok()? else {
            return None;
        };
        let maker = self.pool.method(reference).ok()?;
        if maker.owner != "java/lang/invoke/LambdaMetafactory" {
            return None;
        }
        let &[_, handle, ..] = bootstrap.arguments.as_slice() else {
            return None;
        };
        let Constant::MethodHandle { kind, reference } = self.pool.get(handle).ok()? else {
            return None;
        };
        let method = self.pool.method(reference).ok()?;
        // REF_invokeVirtual and REF_invokeInterface select a method by the receiver;
        // REF_newInvokeSpecial makes an object first.
        let dispatch = match kind {
            5 | 9 => Dispatch::Virtual,
            _ => Dispatch::Exact,
        };
        let site = self.site(method.owner, method.name, method.descriptor, dispatch)?;
        Some((site, kind == 8))
    }

    /// Whether the bootstrap method of a lambda gets interfaces besides its own (`FLAG_MARKERS` of
    /// `LambdaMetafactory.altMetafactory`).
    fn is_marked(&self, bootstrap: &Bootstrap) -> bool {
        const MARKERS: i32 = 2;
        let flags = bootstrap.arguments.get(3);
        let flags = flags.map(|&flags| self.pool.get(flags));
        matches!(flags, Some(Ok(Constant::Integer(flags))) if flags & MARKERS != 0)
    }

    /// Adds what a record's own methods ask of its components.
    pub(super) fn of_record(&mut self, insn: &Insn, name: Utf8<'_>, args: &[Var]) {
        let what = match name.as_bytes() {
            b"toString" => TO_STRING,
            b"hashCode" => HASH_CODE,
            _ => EQUALS,
        };
        let program = self.program;
        let class = program.class(self.class);
        let owner = program.names.bytes(class.name);
        for field in class
            .fields
            .iter()
            .filter(|f| f.access & access::STATIC == 0)
        {
            let descriptor = program.names.bytes(field.descriptor);
            let ty = descriptor
                .strip_prefix(b"L")
                .and_then(|rest| rest.strip_suffix(b";"));
            let Some(ty) = ty.filter(|name| !values::is_trivial(name)) else {
                continue;
            };
            let known = self.find_class(Utf8::new(ty));
            let full = [&*owner, b".", &*program.names.bytes(field.name)].concat();
            let field = program.names.intern(&full);
            let mut read = [NONE; 2];
            for (read, &base) in read.iter_mut().zip(args).filter(|(_, arg)| **arg != NONE) {
                *read = self.another();
                let dst = *read;
                self.add(insn, Op::Load { dst, base, field });
            }
            let more = Some(read[1]).filter(|_| what == EQUALS);
            match known {
                Some(class) => self.ask(insn, class, what, read[0], more),
                None => {
                    let what = program.names.intern(ty);
                    let (dst, args) = (NONE, read.into());
                    self.add(insn, Op::Unknown { dst, what, args });
                }
            }
        }
    }

    pub(super) fn dynamic(
        &mut self,
        insn: &Insn,
        dst: Var,
        args: Box<[Var]>,
        bootstrap: u16,
        name: Utf8<'_>,
        descriptor: Utf8<'_>,
    ) {
        let bootstrap = self.bootstraps.get(usize::from(bootstrap));
        let lambda = bootstrap.and_then(|bootstrap| {
            let marked = self.is_marked(bootstrap);
            Some((self.implementation(bootstrap)?, marked))
        });
        if let Some(((site, makes), marked)) = lambda {
            let result = hindsight_classfile::MethodDescriptor::parse(descriptor).ok();
            let interface = result
                .and_then(|d| d.result())
                .and_then(FieldType::class_name);
            let interface = interface.and_then(|name| self.find_class(name));
            let name = self.program.names.intern(name.as_bytes());
            let lambda = Lambda {
                dst,
                interface,
                marked,
                name,
                site,
                makes,
                captured: args,
            };
            self.add(insn, Op::Lambda(Box::new(lambda)));
            return;
        }
        let maker = bootstrap.and_then(|bootstrap| match self.pool.get(bootstrap.method) {
            Ok(Constant::MethodHandle { reference, .. }) => self.pool.method(reference).ok(),
            _ => None,
        });
        let maker_name = maker.map_or_else(String::new, |maker| {
            maker.owner.to_string_lossy().into_owned()
        });
        match maker_name.as_str() {
            // String concatenation calls toString of each operand.
            "java/lang/invoke/StringConcatFactory" => {
                for &value in self.body.operands(insn) {
                    let object = || self.find_class(Utf8::new(b"java/lang/Object"));
                    if let Some(class) = self.type_of(value).or_else(object) {
                        self.ask(insn, class, TO_STRING, self.var(value), None);
                    }
                }
            }
            "java/lang/runtime/ObjectMethods" => self.of_record(insn, name, &args),
            // Pattern switches test for classes, and call equals of constants.
            "java/lang/runtime/SwitchBootstraps" => {}
            other => {
                let what = format!("a dynamic call by {}", other.replace('/', "."));
                let what = self.program.names.intern(what.as_bytes());
                self.add(insn, Op::Unknown { dst, what, args });
            }
        }
    }
}

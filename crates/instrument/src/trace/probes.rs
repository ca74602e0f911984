//! What the fragments of a class share: constants and ids.

use std::mem;

use hindsight_classfile::{FieldType, MemberRef, Utf8, opcode as op};

use crate::SkipReason;
use crate::asm::{Constants, Fragment};
use crate::contract::ProbeMethod;
use crate::contract::trace::{COVER, HIDE, Kind, MADE, MOST, NAMED, OVERFLOWS, Probe, Shape};

/// The constants of a class that its probes use, and the ids of the members that they name.
pub struct Probes<'c, 'a> {
    pub constants: Constants<'c, 'a>,
    /// The constants of the probes' methods, by [`Probe::index`]; 0 if it was not needed yet.
    methods: [u16; Probe::COUNT],
    /// The constants of the methods that are called but are not events: this one and the three
    /// below; 0 if it was not needed yet.
    hide: u16,
    cover: u16,
    made: u16,
    named: u16,
    /// The constant of [`OVERFLOWS`]; 0 if it was not needed yet.
    overflows: u16,
    fields: Members<'a>,
    callees: Members<'a>,
    is_secret: &'c dyn Fn(&str) -> bool,
    /// Whether a field that the class refers to holds a secret, which may become visible through
    /// that field whatever is recorded.
    pub has_secrets: bool,
    /// The constants of the methods that return the bits of `float` and `double`.
    bits: [Option<u16>; 2],
    pub lists: Lists,
}

/// Memory for the values of one event, and for the places that they come from.
#[derive(Default)]
pub struct Lists {
    pub places: Vec<usize>,
    pub values: Vec<Variable>,
}

/// Members by the constants that name them.
pub struct Members<'a> {
    first_id: u32,
    /// For each constant, the member's place in the list plus two; one if the member needs no id,
    /// zero if it was not examined.
    places: Vec<u16>,
    pub list: Vec<(MemberRef<'a>, u8)>,
}

impl<'a> Members<'a> {
    /// An empty list; `places` is memory that has been used.
    pub fn new(first_id: u32, mut places: Vec<u16>) -> Self {
        places.clear();
        Self {
            first_id,
            places,
            list: Vec::new(),
        }
    }

    /// The place of the member that a constant names: `None` if it was not examined, `Some(None)`
    /// if it needs no id.
    pub fn known(&self, constant: u16) -> Option<Option<usize>> {
        match self.places.get(usize::from(constant)) {
            None | Some(0) => None,
            Some(place) => Some(usize::from(*place).checked_sub(2)),
        }
    }

    /// Records what a constant names, in a class of `count` constants.
    pub fn add(&mut self, constant: u16, count: u16, member: Option<(MemberRef<'a>, u8)>) {
        if self.places.is_empty() {
            self.places.resize(usize::from(count), 0);
            self.list.reserve(16);
        }
        self.list.extend(member);
        if let Some(place) = self.places.get_mut(usize::from(constant)) {
            // A member needs further constants, so there are less than 65,533 members.
            *place = if member.is_some() {
                1 + self.list.len() as u16
            } else {
                1
            };
        }
    }

    /// The id and the kind of the member at a place.
    pub fn get(&self, place: usize) -> Result<(u32, u8), SkipReason> {
        let &(_, kind) = self.list.get(place).ok_or(SkipReason::MALFORMED)?;
        let place = u32::try_from(place).map_err(|_| SkipReason::TooLarge)?;
        let id = self.first_id.checked_add(place);
        Ok((id.ok_or(SkipReason::TooLarge)?, kind))
    }
}

/// A flag in the kind of a field that holds a secret; descriptors are ASCII.
const SECRET: u8 = 0x80;

/// The variable that holds a value which an event hands over.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// The first byte of the type's descriptor.
    pub kind: u8,
    pub slot: u16,
}

impl<'c, 'a> Probes<'c, 'a> {
    pub fn new(
        mut constants: Constants<'c, 'a>,
        first_field: u32,
        first_callee: u32,
        is_secret: &'c dyn Fn(&str) -> bool,
    ) -> Self {
        let [of_fields, of_callees] = mem::take(&mut constants.spare.places);
        let mut names = constants.pool.field_names();
        let has_secrets = names.any(|name| is_secret(&name.to_string_lossy()));
        Self {
            constants,
            methods: [0; Probe::COUNT],
            hide: 0,
            cover: 0,
            made: 0,
            named: 0,
            overflows: 0,
            is_secret,
            has_secrets,
            fields: Members::new(first_field, of_fields),
            callees: Members::new(first_callee, of_callees),
            bits: [None; 2],
            lists: Lists::default(),
        }
    }

    /// Takes the constants out, with the memory that is to be used again.
    pub fn into_constants(mut self) -> Constants<'c, 'a> {
        self.constants.spare.places = [self.fields.places, self.callees.places];
        self.constants
    }

    /// The fields that got ids, in their order.
    pub fn fields(&self) -> impl Iterator<Item = MemberRef<'a>> + Clone {
        self.fields.list.iter().map(|&(member, _)| member)
    }

    /// The callees that got ids, in their order.
    pub fn callees(&self) -> impl Iterator<Item = MemberRef<'a>> + Clone {
        self.callees.list.iter().map(|&(member, _)| member)
    }

    /// The id of the field that a constant names, the first byte of its descriptor, and whether it
    /// holds a secret.
    pub fn field(&mut self, constant: u16) -> Result<(u32, u8, bool), SkipReason> {
        if self.fields.known(constant).is_none() {
            let pool = self.constants.pool;
            let field = pool.field(constant)?;
            let mut kind = FieldType::parse(field.descriptor)?.kind();
            if (self.is_secret)(&field.name.to_string_lossy()) {
                kind |= SECRET;
            }
            self.fields.add(constant, pool.count(), Some((field, kind)));
        }
        let place = self.fields.known(constant).flatten();
        let (id, kind) = self.fields.get(place.ok_or(SkipReason::MALFORMED)?)?;
        Ok((id, kind & !SECRET, kind & SECRET != 0))
    }

    /// Whether a parameter of this name holds a secret.
    pub fn is_secret(&self, name: &str) -> bool {
        (self.is_secret)(name)
    }

    /// Marks the content of the object on the stack as a secret, and pops it.
    pub fn hide(&mut self, fragment: &mut Fragment, method: u32) -> Result<(), SkipReason> {
        if self.hide == 0 {
            self.hide = self.other(HIDE)?;
        }
        fragment.push_id(method, &mut self.constants)?;
        fragment.op_u16(op::INVOKESTATIC, self.hide);
        Ok(())
    }

    /// Records that a block runs.
    pub fn cover(&mut self, fragment: &mut Fragment, block: u32) -> Result<(), SkipReason> {
        if self.cover == 0 {
            self.cover = self.other(COVER)?;
        }
        fragment.push_id(block, &mut self.constants)?;
        fragment.op_u16(op::INVOKESTATIC, self.cover);
        Ok(())
    }

    /// Records the arrays within the array on the stack, and pops it.
    pub fn made(&mut self, fragment: &mut Fragment) -> Result<(), SkipReason> {
        if self.made == 0 {
            self.made = self.other(MADE)?;
        }
        fragment.op_u16(op::INVOKESTATIC, self.made);
        Ok(())
    }

    /// Records the class and the name, on top of the stack, from which the handle below them was
    /// made, and pops all three.
    pub fn named(&mut self, fragment: &mut Fragment) -> Result<(), SkipReason> {
        if self.named == 0 {
            self.named = self.other(NAMED)?;
        }
        fragment.op_u16(op::INVOKESTATIC, self.named);
        Ok(())
    }

    /// The constant of the field that counts probes which found the stack exhausted.
    pub fn overflows(&mut self) -> Result<u16, SkipReason> {
        if self.overflows == 0 {
            let constants = &mut self.constants;
            let owner = constants.class(Utf8::new(constants.owner.as_bytes()))?;
            let (name, descriptor) = OVERFLOWS;
            let added = &mut constants.added;
            self.overflows = added.field(owner, name.as_bytes(), descriptor.as_bytes())?;
        }
        Ok(self.overflows)
    }

    fn other(&mut self, method: ProbeMethod) -> Result<u16, SkipReason> {
        let constants = &mut self.constants;
        let owner = constants.class(Utf8::new(constants.owner.as_bytes()))?;
        let (name, descriptor) = (method.name.as_bytes(), method.descriptor.as_bytes());
        Ok(constants.added.method(owner, name, descriptor)?)
    }

    /// The method that a constant names and its id, if it gets one. `of_owner` and `wanted` decide
    /// that when the constant is first seen; `of_owner` is asked first, for every method that is
    /// called.
    pub fn callee(
        &mut self,
        constant: u16,
        of_owner: impl FnOnce(Utf8<'a>) -> bool,
        wanted: impl FnOnce(&MemberRef<'a>) -> bool,
    ) -> Result<Option<(MemberRef<'a>, u32)>, SkipReason> {
        if self.callees.known(constant).is_none() {
            let pool = self.constants.pool;
            // If the constant makes no sense, the verifier will say so.
            let method = (pool.method_owner(constant).ok())
                .filter(|&owner| of_owner(owner))
                .and_then(|_| pool.method(constant).ok())
                .filter(wanted);
            self.callees
                .add(constant, pool.count(), method.map(|method| (method, 0)));
        }
        match self.callees.known(constant).flatten() {
            Some(place) => {
                let &(method, _) = self.callees.list.get(place).ok_or(SkipReason::MALFORMED)?;
                Ok(Some((method, self.callees.get(place)?.0)))
            }
            None => Ok(None),
        }
    }

    /// Appends the call of a probe.
    pub fn call(&mut self, fragment: &mut Fragment, probe: Probe) -> Result<(), SkipReason> {
        let place = self.methods.get_mut(probe.index());
        let place = place.ok_or(SkipReason::MALFORMED)?;
        if *place == 0 {
            let constants = &mut self.constants;
            let owner = constants.class(Utf8::new(constants.owner.as_bytes()))?;
            let ProbeMethod { name, descriptor } = probe.method();
            let (name, descriptor) = (name.as_bytes(), descriptor.as_bytes());
            *place = constants.added.method(owner, name, descriptor)?;
        }
        fragment.op_u16(op::INVOKESTATIC, *place);
        Ok(())
    }

    /// Pushes an id and calls a probe, whose last argument it is.
    pub fn call_with(
        &mut self,
        fragment: &mut Fragment,
        probe: Probe,
        id: u32,
    ) -> Result<(), SkipReason> {
        fragment.push_id(id, &mut self.constants)?;
        self.call(fragment, probe)
    }

    /// Appends an event with any number of values, which may take several calls. `told` is called
    /// with the place of each value in the order in which they are recorded. Returns the number of
    /// stack slots needed.
    pub fn event(
        &mut self,
        fragment: &mut Fragment,
        first: fn(Shape) -> Probe,
        values: &[Variable],
        id: u32,
        mut told: impl FnMut(usize),
    ) -> Result<u16, SkipReason> {
        let most = [MOST.references, MOST.ints, MOST.longs];
        let mut left = [0; 3];
        for value in values {
            left[sort_of(value.kind)] += 1;
        }
        let mut done = [0; 3];
        let mut deepest = 0;
        let mut probe = first;
        loop {
            let mut count = [0; 3];
            for sort in 0..3 {
                count[sort] = most[sort].min(left[sort]);
                if count[sort] == 0 {
                    continue;
                }
                let of_sort = values.iter().enumerate();
                let of_sort = of_sort.filter(|(_, value)| sort_of(value.kind) == sort);
                for (at, value) in of_sort.skip(done[sort]).take(count[sort]) {
                    fragment.load(value.kind, value.slot);
                    self.bits(fragment, value.kind)?;
                    told(at);
                }
                done[sort] += count[sort];
                left[sort] -= count[sort];
            }
            let [references, ints, longs] = count;
            let shape = Shape {
                references,
                ints,
                longs,
            };
            self.call_with(fragment, probe(shape), id)?;
            deepest = deepest.max(references + ints + 2 * longs + 1);
            if left == [0; 3] {
                // This is at most the sum of the counts in MOST.
                return Ok(deepest as u16);
            }
            probe = Probe::More;
        }
    }

    /// Turns a `float` or `double` on the stack into its bits.
    fn bits(&mut self, fragment: &mut Fragment, kind: u8) -> Result<(), SkipReason> {
        let (at, owner, name, descriptor) = match kind {
            b'F' => (0, "java/lang/Float", "floatToRawIntBits", "(F)I"),
            b'D' => (1, "java/lang/Double", "doubleToRawLongBits", "(D)J"),
            _ => return Ok(()),
        };
        let index = match self.bits[at] {
            Some(index) => index,
            None => {
                let owner = self.constants.class(Utf8::new(owner.as_bytes()))?;
                let added = &mut self.constants.added;
                let index = added.method(owner, name.as_bytes(), descriptor.as_bytes())?;
                *self.bits[at].insert(index)
            }
        };
        fragment.op_u16(op::INVOKESTATIC, index);
        Ok(())
    }
}

/// The index in a [`Shape`] of a value's kind.
fn sort_of(kind: u8) -> usize {
    match kind {
        b'L' | b'[' => 0,
        b'J' | b'D' => 2,
        _ => 1,
    }
}

/// The kind of values of a type, by the first byte of its descriptor.
pub fn kind_of(kind: u8) -> Kind {
    match kind {
        b'L' | b'[' => Kind::Reference,
        b'J' => Kind::Long,
        b'F' => Kind::Float,
        b'D' => Kind::Double,
        _ => Kind::Int,
    }
}

/// Whether a value takes two slots.
pub fn is_wide(kind: Kind) -> bool {
    matches!(kind, Kind::Long | Kind::Double)
}

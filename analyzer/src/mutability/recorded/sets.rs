//! Sets of parameters of calls; equal sets are kept once.

use crate::program::names::Map;
use std::sync::Arc;

/// A parameter of a call: the number of the call and of the parameter in one number.
pub type Member = u64;

/// The number of a set.
pub type SetId = u32;

/// The empty set.
pub const EMPTY: SetId = 0;

/// Parameters from this index on are not distinguished.
const PARAMS: u32 = 8;

/// The member for a parameter of a call.
pub fn member(call: u64, param: u16) -> Member {
    call << PARAMS | u64::from(param.min(255))
}

/// The call of a member.
pub fn call_of(member: Member) -> u64 {
    member >> PARAMS
}

/// The parameter of a member.
pub fn param_of(member: Member) -> u16 {
    (member & 255) as u16
}

/// The sets by number, with a cache of their unions and intersections.
pub struct Sets {
    sets: Vec<Arc<[Member]>>,
    numbers: Map<Arc<[Member]>, SetId>,
    unions: Map<(SetId, SetId), SetId>,
}

impl Default for Sets {
    fn default() -> Sets {
        let mut sets = Sets {
            sets: Vec::new(),
            numbers: Map::default(),
            unions: Map::default(),
        };
        sets.intern(Vec::new());
        sets
    }
}

impl Sets {
    fn intern(&mut self, members: Vec<Member>) -> SetId {
        let members: Arc<[Member]> = members.into();
        if let Some(&known) = self.numbers.get(&members) {
            return known;
        }
        let number = self.sets.len() as SetId;
        self.sets.push(members.clone());
        self.numbers.insert(members, number);
        number
    }

    /// The members, sorted.
    pub fn members(&self, set: SetId) -> Arc<[Member]> {
        self.sets[set as usize].clone()
    }

    /// A set with one more member.
    pub fn with(&mut self, set: SetId, member: Member) -> SetId {
        let mut members = self.sets[set as usize].to_vec();
        match members.binary_search(&member) {
            Ok(_) => set,
            Err(at) => {
                members.insert(at, member);
                self.intern(members)
            }
        }
    }

    /// The union of two sets.
    pub fn union(&mut self, one: SetId, other: SetId) -> SetId {
        if one == other || other == EMPTY {
            return one;
        }
        if one == EMPTY {
            return other;
        }
        let key = (one.min(other), one.max(other));
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let mut members = self.sets[one as usize].to_vec();
        members.extend_from_slice(&self.sets[other as usize]);
        members.sort_unstable();
        members.dedup();
        let made = self.intern(members);
        self.unions.insert(key, made);
        made
    }

    /// The intersection of two sets.
    pub fn intersection(&mut self, one: SetId, other: SetId) -> SetId {
        if one == other {
            return one;
        }
        if one == EMPTY || other == EMPTY {
            return EMPTY;
        }
        let others = self.sets[other as usize].clone();
        let both = self.sets[one as usize].iter().copied();
        let both = both.filter(|member| others.binary_search(member).is_ok());
        let both = both.collect();
        self.intern(both)
    }

    /// A set without members of calls that have returned.
    pub fn living(&mut self, set: SetId, lives: impl Fn(u64) -> bool) -> SetId {
        let members = &self.sets[set as usize];
        if members.iter().all(|&member| lives(call_of(member))) {
            return set;
        }
        let left = members.iter().copied();
        let left = left.filter(|&member| lives(call_of(member))).collect();
        self.intern(left)
    }

    /// Adds a set with these members.
    pub fn add(&mut self, members: &[Member]) -> SetId {
        self.intern(members.to_vec())
    }

    /// The number of sets.
    pub fn count(&self) -> usize {
        self.sets.len()
    }
}

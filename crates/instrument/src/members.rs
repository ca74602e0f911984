//! The meanings of the numbers of fields and callees, in a compact form.

use hindsight_classfile::{MemberRef, Utf8};

use crate::records::MAX_TEXT;

/// A member as code refers to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberName {
    /// The number by which probes name the member.
    pub id: u32,
    /// The class in which the search for the member begins; for the methods of arrays, the array's
    /// type.
    pub owner: String,
    /// The member's name.
    pub name: String,
    /// The member's descriptor.
    pub descriptor: String,
}

/// Members by rising id, in two pieces of memory for a class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemberNames {
    first_id: u32,
    /// Owner, name and descriptor of each member, one after the other.
    text: Box<str>,
    /// Where each member's owner, name and descriptor end in the text.
    ends: Box<[[u32; 3]]>,
}

impl MemberNames {
    /// The given members, numbered from `first_id` on.
    pub(crate) fn new<'a>(
        members: impl Iterator<Item = MemberRef<'a>> + Clone,
        first_id: u32,
    ) -> Self {
        let pieces = |member: MemberRef<'a>| [member.owner, member.name, member.descriptor];
        let lens = members.clone().flat_map(pieces);
        let len: usize = lens.map(|piece| piece.as_bytes().len()).sum();
        let mut text = String::with_capacity(len.min(MAX_TEXT));
        let mut ends = Vec::with_capacity(members.clone().count());
        let mut add = |piece: Utf8<'_>| {
            if text.len() < MAX_TEXT {
                text.push_str(&piece.to_string_lossy());
            }
            text.len() as u32
        };
        for member in members {
            ends.push(pieces(member).map(&mut add));
        }
        Self {
            first_id,
            text: text.into(),
            ends: ends.into(),
        }
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All members.
    pub fn iter(&self) -> impl Iterator<Item = MemberName> {
        let mut start = 0;
        let mut piece = move |end: u32| {
            let piece = self.text.get(start..end as usize).unwrap_or("");
            start = end as usize;
            piece.to_owned()
        };
        (self.first_id..).zip(&self.ends).map(move |(id, &ends)| {
            let [owner, name, descriptor] = ends.map(&mut piece);
            MemberName {
                id,
                owner,
                name,
                descriptor,
            }
        })
    }
}

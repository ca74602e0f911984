//! The text that an array of characters or bytes may contain: a buffer, a body, a file that was
//! read.

/// In a text of unknown encoding, at most one of this many bytes is a control character.
const FEW: usize = 20;

/// The content of a `char[]` as text, in the order of its elements' bytes.
pub(crate) fn of_chars(elements: &[u8]) -> String {
    let units = elements.chunks_exact(2);
    let units: Vec<u16> = units
        .map(|two| u16::from_le_bytes([two[0], two[1]]))
        .collect();
    String::from_utf16_lossy(&units)
}

/// The content of a `byte[]` as text, in its likely encoding; `None` if it does not seem to be
/// text.
pub(crate) fn of_bytes(bytes: &[u8]) -> Option<String> {
    // The zeros are unused room in a buffer.
    let filled = bytes.iter().rposition(|byte| *byte != 0)? + 1;
    let whole = filled + filled % 2;
    if let Some(text) = (bytes.get(..whole.min(bytes.len()))).and_then(of_wide) {
        return Some(text);
    }
    let bytes = &bytes[..filled];
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(text.to_owned());
    }
    let is_control = |byte: &&u8| matches!(byte, 1..9 | 14..32);
    if bytes.iter().filter(is_control).count() > bytes.len() / FEW {
        return None;
    }
    // It is a part of a message with text in it, or all in Latin-1.
    let text = String::from_utf8_lossy(bytes);
    let has_letters = text.chars().any(|c| !c.is_ascii() && c != '\u{fffd}');
    Some(match has_letters {
        true => text.into_owned(),
        false => bytes.iter().map(|byte| char::from(*byte)).collect(),
    })
}

/// The content as UTF-16 text, if every other byte is mostly zero.
fn of_wide(bytes: &[u8]) -> Option<String> {
    let zeros = |first: usize| {
        let others = bytes.iter().skip(first).step_by(2);
        others.filter(|byte| **byte == 0).count()
    };
    let most = bytes.len() / 3;
    if !bytes.contains(&0) || zeros(0).max(zeros(1)) < most {
        return None;
    }
    let decode: fn([u8; 2]) -> u16 = match zeros(0) > zeros(1) {
        true => u16::from_be_bytes,
        false => u16::from_le_bytes,
    };
    let units = bytes.chunks_exact(2);
    let units: Vec<u16> = units.map(|two| decode([two[0], two[1]])).collect();
    Some(String::from_utf16_lossy(&units))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_all_encodings() {
        let text = "password=h\u{fc}nter";
        let units: Vec<u16> = text.encode_utf16().collect();
        let latin1: Vec<u8> = units.iter().map(|unit| *unit as u8).collect();
        let le: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let be: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        for mut bytes in [latin1, le.clone(), be, text.as_bytes().to_vec()] {
            assert_eq!(of_bytes(&bytes).as_deref(), Some(text), "{bytes:?}");
            bytes.resize(200, 0);
            assert_eq!(of_bytes(&bytes).as_deref(), Some(text), "{bytes:?}");
        }
        assert_eq!(of_chars(&le), text);
    }

    #[test]
    fn what_is_no_text_is_told_from_one_with_other_bytes_around() {
        let mut noise = 1_u32;
        let random = std::iter::repeat_with(|| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise >> 24) as u8
        });
        let bytes: Vec<u8> = random.take(4096).collect();
        assert_eq!(of_bytes(&bytes), None);
        let mut message = vec![0xff, 0x00, 0x10];
        message.extend_from_slice("{\"password\": \"h\u{fc}nter and more of it\"}".as_bytes());
        let text = of_bytes(&message).unwrap();
        assert!(text.contains("h\u{fc}nter"), "{text}");
        assert_eq!(of_bytes(&[0; 9]), None);
    }
}

//! Removes signatures of jars: their files, and the digests of entries in the manifest (JAR File
//! Specification, "Signed JAR File").

/// The part of a signature that an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// The signature file, which has digests.
    File,
    /// Another file of the signature, such as the signature block.
    Other,
}

/// Whether an entry belongs to a signature, by its name. `SIG-` begins such a name if what follows
/// does not look like a resource's name: an extension of more than three letters and digits.
pub fn signature(name: &str) -> Option<Signature> {
    let name = name.to_ascii_uppercase();
    let file = name.strip_prefix("META-INF/")?;
    if file.contains('/') {
        return None;
    }
    let (stem, extension) = match file.rsplit_once('.') {
        Some((stem, extension)) => (stem, Some(extension)),
        None => (file, None),
    };
    let is_short = |extension: &str| {
        (1..=3).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    match extension {
        Some("SF") => Some(Signature::File),
        Some("RSA" | "DSA" | "EC") => Some(Signature::Other),
        extension => {
            (stem.starts_with("SIG-") && extension.is_none_or(is_short)).then_some(Signature::Other)
        }
    }
}

/// Whether an entry is the manifest.
pub fn is_manifest(name: &str) -> bool {
    name.eq_ignore_ascii_case("META-INF/MANIFEST.MF")
}

/// The manifest without digests of entries, and without the sections that had nothing else. All
/// other bytes stay. `None` if there are no digests.
pub fn without_digests(manifest: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(manifest.len());
    let mut removed = false;
    for (number, section) in sections(manifest).into_iter().enumerate() {
        let is_digest = |attribute: &&[u8]| number > 0 && names_digest(attribute);
        let kept: Vec<_> = section.iter().filter(|line| !is_digest(line)).collect();
        if kept.len() == section.len() {
            section.iter().for_each(|line| out.extend_from_slice(line));
            continue;
        }
        removed = true;
        // Of a section that has only digests, the name and the blank line are left.
        let says_more = kept
            .iter()
            .any(|line| !is_blank(line) && !starts_with(line, b"name:"));
        if says_more {
            kept.iter().for_each(|line| out.extend_from_slice(line));
        }
    }
    removed.then_some(out)
}

/// The attributes of each section, with their continuation lines and line ends; the blank lines
/// after a section belong to it.
fn sections(manifest: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut sections: Vec<Vec<&[u8]>> = vec![Vec::new()];
    let mut rest = manifest;
    while !rest.is_empty() {
        let mut len = line_len(rest);
        while !is_blank(&rest[..len]) && rest.get(len) == Some(&b' ') {
            len += line_len(&rest[len..]);
        }
        let (attribute, tail) = rest.split_at(len);
        rest = tail;
        let section = sections.last_mut().filter(|section| {
            let ended = section.last().is_some_and(|line| is_blank(line));
            !ended || is_blank(attribute)
        });
        match section {
            Some(section) => section.push(attribute),
            None => sections.push(vec![attribute]),
        }
    }
    sections
}

/// The length of the first line with its end: `\r\n`, `\n` or `\r`.
fn line_len(text: &[u8]) -> usize {
    match text.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        Some(at) if text[at..].starts_with(b"\r\n") => at + 2,
        Some(at) => at + 1,
        None => text.len(),
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b'\r' | b'\n'))
}

fn starts_with(line: &[u8], start: &[u8]) -> bool {
    line.get(..start.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(start))
}

/// Whether an attribute is `ALGORITHM-Digest`, or that for a language.
fn names_digest(attribute: &[u8]) -> bool {
    let name = attribute.split(|&byte| byte == b':').next().unwrap_or(&[]);
    let name = name.to_ascii_lowercase();
    name.ends_with(b"-digest") || name.windows(8).any(|part| part == b"-digest-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_known_by_name() {
        let (file, other) = (Some(Signature::File), Some(Signature::Other));
        for (name, expected) in [
            ("META-INF/A.SF", file),
            ("meta-inf/a.rsa", other),
            ("META-INF/SIG-x", other),
            ("META-INF/sig-a.p7", other),
            ("META-INF/SIG-A.SF", file),
            ("META-INF/sig-policy.properties", None),
            ("META-INF/SIG-notes.t_t", None),
            ("META-INF/SIG-.", None),
            ("META-INF/sub/A.SF", None),
            ("META-INF/A.SF.txt", None),
            ("A.SF", None),
        ] {
            assert_eq!(signature(name), expected, "{name}");
        }
    }

    #[test]
    fn digests_go_and_all_else_stays() {
        let signed = b"Manifest-Version: 1.0\r\nX-Digest: main\r\n\r\n\
            Name: a/B.class\r\nSHA-256-Digest: abc\r\n def\r\n\r\n\
            Name: a/\r\nSealed: true\r\nSHA1-Digest: x\r\n\r\n\
            Name: long/na\r\n me\r\nsha1-digest-de: y\r\n\r\n";
        let plain = b"Manifest-Version: 1.0\r\nX-Digest: main\r\n\r\n\
            Name: a/\r\nSealed: true\r\n\r\n";
        let stripped = without_digests(signed).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&stripped),
            String::from_utf8_lossy(plain)
        );
        assert_eq!(without_digests(plain), None);
        // Other line ends, and none at all.
        let odd = b"A: b\n\nName: x\rMD5-Digest: y";
        assert_eq!(without_digests(odd).unwrap(), b"A: b\n\n");
        assert_eq!(without_digests(b""), None);
    }
}

//! Makes the HTML page.

use super::collect::Found;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::io::{self, BufWriter};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The data that the page shows. It is never one JSON value, because crashes are texts.
#[derive(Serialize)]
struct Data<'a> {
    schema: &'static str,
    crashes: &'a [Box<RawValue>],
    models: &'a [Json],
    mutability: &'a [Json],
}

/// Makes the page as a text.
///
/// # Errors
///
/// Fails if the documents cannot be serialized and compressed.
pub fn write(title: &str, found: &Found) -> io::Result<String> {
    let data = Data {
        schema: "hindsight.page/2",
        crashes: &found.crashes,
        models: &found.models,
        mutability: &found.mutability,
    };
    let mut packed = BufWriter::new(GzEncoder::new(Vec::new(), Compression::best()));
    serde_json::to_writer(&mut packed, &data)?;
    let data = base64(&packed.into_inner()?.finish()?);
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    let mut rest = PAGE;
    for (place, text) in [
        ("/*STYLE*/", STYLE),
        ("<!--TITLE-->", title),
        ("/*DATA*/", &data),
        ("/*SCRIPT*/", SCRIPT),
    ] {
        if let Some((before, after)) = rest.split_once(place) {
            page.push_str(before);
            page.push_str(text);
            rest = after;
        }
    }
    page.push_str(rest);
    Ok(page)
}

/// Bytes as text in which no markup can begin.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            out.push(match digit <= group.len() {
                true => char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]),
                false => '=',
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }

    #[test]
    fn nothing_is_asked_of_the_network() {
        let page = write("", &Found::default()).unwrap();
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("src=") && !page.contains("href="));
        // The only address is the one that names the format of a picture.
        let addresses = page.matches("http").count() - page.matches("http-equiv").count();
        assert_eq!(
            addresses,
            page.matches("http://www.w3.org/2000/svg").count()
        );
    }
}

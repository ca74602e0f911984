//! The page.

use super::collect::Found;
use anyhow::Result;
use serde_json::json;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page as a text.
///
/// # Errors
///
/// Fails if there is more than memory.
pub fn write(title: &str, found: &Found) -> Result<String> {
    let data = json!({
        "schema": "hindsight.view/1",
        "crashes": found.crashes,
        "models": found.models,
        "mutability": found.mutability,
    });
    let data = escaped(&serde_json::to_string(&data)?);
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

/// JSON that means the same, in which neither markup nor the end of a script can
/// begin: `<` stands only in texts there, where it may be written by its number.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The data of a page, as a browser would find them.
    fn data(page: &str) -> &str {
        let start = "<script type=\"application/json\" id=\"data\">";
        let (_, rest) = page.split_once(start).unwrap();
        rest.split_once("</script>").unwrap().0
    }

    #[test]
    fn no_text_becomes_markup() {
        let nasty = "</script><script>alert(1)</script><!-- /*SCRIPT*/ \u{2028} & \" '";
        let found = Found {
            crashes: vec![json!({ "message": nasty, nasty: [nasty] })],
            ..Found::default()
        };
        let page = write("1 crash", &found).unwrap();
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(page.contains("<span class=\"dim\">1 crash</span>"));
        let data: Value = serde_json::from_str(data(&page)).unwrap();
        assert_eq!(data["crashes"][0]["message"], nasty);
        assert_eq!(data["crashes"][0][nasty][0], nasty);
        // All places were filled, and only they.
        assert!(!page.contains("/*STYLE*/") && !page.contains("/*DATA*/"));
        assert!(page.contains("JSON.parse"));
    }

    #[test]
    fn nothing_is_asked_of_the_network() {
        let page = write("", &Found::default()).unwrap();
        assert!(page.contains("default-src 'none'"));
        assert!(!page.contains("src=") && !page.contains("href="));
        // The one address names what a picture is.
        let addresses = page.matches("http").count() - page.matches("http-equiv").count();
        assert_eq!(
            addresses,
            page.matches("http://www.w3.org/2000/svg").count()
        );
    }
}

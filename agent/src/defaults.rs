//! The default locale and time zone of the JVM, which the program may have set.
//!
//! They are read from static fields of the JDK, because the failing thread may have no stack left
//! to call `getDefault`.

use crate::agent::Agent;
use crate::jni::{Jni, Obj};
use hindsight_tracelog::crash::Defaults;

/// The present defaults; what cannot be read is empty.
pub(crate) fn read(agent: &Agent, jni: Jni) -> Defaults {
    let locales = jni.with_frame(locales).flatten();
    let (locale, format) = locales.unwrap_or_default();
    let zone = agent.time_zone.and_then(|class| {
        let zone = jni.with_frame(|jni| zone(jni, *class));
        zone.flatten()
    });
    Defaults {
        format: format
            .filter(|format| *format != locale)
            .unwrap_or_default(),
        locale,
        zone: zone.unwrap_or_default(),
    }
}

/// The tags of the default locale and of the one for numbers and dates, which exists once it was
/// asked for.
fn locales(jni: Jni) -> Option<(String, Option<String>)> {
    let class = jni.find_class(c"java/util/Locale")?;
    let default = |name| jni.static_object(class, name, c"Ljava/util/Locale;");
    let locale = locale(jni, class, default(c"defaultLocale")?)?;
    let format = default(c"defaultFormatLocale");
    let format = format.and_then(|format| self::locale(jni, class, format));
    Some((locale, format))
}

fn locale(jni: Jni, class: Obj, locale: Obj) -> Option<String> {
    let base = jni.field(class, c"baseLocale", c"Lsun/util/locale/BaseLocale;")?;
    let extensions = jni.field(
        class,
        c"localeExtensions",
        c"Lsun/util/locale/LocaleExtensions;",
    )?;
    let base = jni.get_object(locale, base)?;
    let text = |object: Obj, name| {
        let field = jni.field(jni.class_of(object), name, c"Ljava/lang/String;")?;
        Some(jni.string(jni.get_object(object, field)?))
    };
    let extensions = jni.get_object(locale, extensions);
    let extensions = extensions.and_then(|extensions| text(extensions, c"id"));
    Some(tag(
        [c"language", c"script", c"region"].map(|name| text(base, name).unwrap_or_default()),
        &text(base, c"variant").unwrap_or_default(),
        &extensions.unwrap_or_default(),
    ))
}

/// The language tag of a locale, without variants that cannot be in a tag (`ja_JP_JP`).
fn tag([language, script, region]: [String; 3], variant: &str, extensions: &str) -> String {
    let language = match language.is_empty() {
        true => "und".to_owned(),
        false => language,
    };
    let is_variant = |part: &&str| {
        let is_long = (5..=8).contains(&part.len());
        let is_short = part.len() == 4 && part.starts_with(|first: char| first.is_ascii_digit());
        (is_long || is_short) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let parts = [&*language, &*script, &*region].into_iter();
    let parts: Vec<&str> = parts
        .chain(variant.split('_').take_while(is_variant))
        .chain([extensions])
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("-")
}

fn zone(jni: Jni, class: Obj) -> Option<String> {
    let id = jni.field(class, c"ID", c"Ljava/lang/String;")?;
    let zone = jni.static_object(class, c"defaultTimeZone", c"Ljava/util/TimeZone;")?;
    Some(jni.string(jni.get_object(zone, id)?))
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn tags_are_those_of_the_jdk() {
        for (parts, variant, extensions, expected) in [
            (["tr", "", "TR"], "", "", "tr-TR"),
            (["", "", ""], "", "", "und"),
            (["zh", "Hant", "TW"], "", "", "zh-Hant-TW"),
            (
                ["ja", "", "JP"],
                "JP",
                "u-ca-japanese",
                "ja-JP-u-ca-japanese",
            ),
            (["sl", "", "IT"], "ROZAJ_1994", "", "sl-IT-ROZAJ-1994"),
            (["en", "", "US"], "POSIX_x", "", "en-US-POSIX"),
        ] {
            let tag = tag(parts.map(str::to_owned), variant, extensions);
            assert_eq!(tag, expected);
        }
    }
}

//! Preview features: a JVM loads classes that use them only if it is asked to, as javac does.

use crate::classpath::ClassPath;
use crate::jdk::ENABLE_PREVIEW;
use hindsight_tracelog::reader::Crash;

/// Adds it to options of JVMs where a class that a recorded crash came through needs it.
pub fn add<'a>(
    options: &mut Vec<String>,
    classpath: &ClassPath,
    mut crashes: impl Iterator<Item = &'a Crash>,
) {
    let needs = |class: &str| {
        let found = classpath.find(class);
        found.is_some_and(|found| found.info.as_ref().is_some_and(|info| info.preview))
    };
    if !is_on(options)
        && crashes.any(|crash| crash.failure.frames.iter().any(|frame| needs(&frame.class)))
    {
        options.push(ENABLE_PREVIEW.to_owned());
    }
}

/// Whether these options ask for preview features. Javac must then be told, too, and compile for its own version.
pub fn is_on(options: &[String]) -> bool {
    options.iter().any(|option| option == ENABLE_PREVIEW)
}

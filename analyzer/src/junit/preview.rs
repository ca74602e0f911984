//! Preview features: a JVM loads classes that use them only with an option, and so does javac.

use crate::classpath::ClassPath;
use crate::jdk::ENABLE_PREVIEW;
use hindsight_tracelog::reader::Crash;

/// Adds that option to the options of JVMs if a class in a recorded stack needs it.
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

/// Whether these options enable preview features. Then javac needs the option as well, and must
/// compile for its own version.
pub fn is_on(options: &[String]) -> bool {
    options.iter().any(|option| option == ENABLE_PREVIEW)
}

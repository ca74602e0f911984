//! Recognises other agents. They are not part of the program, although `include` may name them.
//!
//! The classes that an agent brings have a loader of the agent's own, so that the program does not
//! see them: libraries that others have as well (Byte Buddy, Log4j), and not always under names of
//! the agent's own.

use crate::agent::Base;
use crate::jdk;
use crate::sys;

/// The prefixes of the names of agents' classes.
const AGENTS: &[&str] = &[
    "org.jacoco.agent.rt.",
    "io.opentelemetry.javaagent.",
    "net.bytebuddy.agent.",
    "datadog.trace.",
    "datadog.instrument.",
    "com.datadog.",
    "com.newrelic.agent.",
    "com.newrelic.bootstrap.",
    "co.elastic.apm.agent.",
    "co.elastic.otel.",
    "com.dynatrace.",
    "com.appdynamics.",
    "com.instana.",
    "com.microsoft.applicationinsights.agent.",
    "com.navercorp.pinpoint.",
    "org.apache.skywalking.apm.",
    "org.glowroot.agent.",
    "com.intellij.rt.debugger.",
];

/// Whether a class of this name, with dots, is an agent's whatever its loader.
pub(crate) fn are_of(name: &str) -> bool {
    AGENTS.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a class that is not the boot loader's is neither the JDK's nor another agent's.
pub(crate) fn is_program(base: &Base, name: &str, loader: sys::Ref) -> bool {
    if are_of(name) {
        return false;
    }
    if jdk::may_be(name) {
        let package = name
            .rsplit_once('.')
            .map_or("", |(package, _)| package)
            .replace('.', "/");
        if base.jvmti.in_named_module(loader, &package) {
            return false;
        }
    }
    !base.loaders.is_of_agent(base, loader)
}

//! Why a JVM does not load a library.

use super::MAX_ARGUMENT;
use std::io;
use std::path::PathBuf;

/// Why a JVM does not load a library.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such process.
    #[error("there is no process {0}; jcmd -l lists the JVMs")]
    NoProcess(u32),
    /// The process may not be examined, although it is the user's own.
    #[error(
        "process {0} may not be looked at, though it is your own: it has rights that you \
         lack here (another user namespace, capabilities, or a program that forbids it)"
    )]
    Guarded(u32),
    /// The process is another user's.
    #[error("process {pid} is of the user with id {user}; attach as that user")]
    OtherUser {
        /// The process.
        pid: u32,
        /// Its user.
        user: u32,
    },
    /// The process is another user's, who is not known.
    #[error("process {0} is another user's; attach as that user")]
    UnknownUser(u32),
    /// The process cannot be examined.
    #[error("cannot look at process {pid}")]
    Unseen {
        /// The process.
        pid: u32,
        /// The reason.
        source: io::Error,
    },
    /// The process is another program.
    #[error("process {0} is no HotSpot JVM (it has no libjvm.so); jcmd -l lists the JVMs")]
    NoJvm(u32),
    /// The JVM was started with an option against it.
    #[error(
        "process {0} was started with -XX:+DisableAttachMechanism, which forbids it; \
         start it with -agentpath instead"
    )]
    Disabled(u32),
    /// The JVM would not survive being asked.
    #[error(
        "process {0} would be ended by the signal that asks it to listen: it is just \
         starting (try again), or was started with -Xrs and listens elsewhere than in /tmp"
    )]
    Endangered(u32),
    /// The file for the answer cannot be given away.
    #[error("cannot give the file for the answer to the user of the process")]
    NotGiven(#[source] io::Error),
    /// The protocol cannot express the library's path.
    #[error("the library's path is not UTF-8")]
    Path,
    /// An argument of the protocol has this many bytes.
    #[error(
        "the JVM takes at most {MAX_ARGUMENT} bytes, and these are {0}: \
         write the options into a file and give @FILE (its path as the JVM sees it)"
    )]
    TooLong(usize),
    /// The JVM does not take the command.
    #[error("process {pid} has closed its socket")]
    Closed {
        /// The process.
        pid: u32,
        /// The reason.
        source: io::Error,
    },
    /// The JVM has not answered in time.
    #[error(
        "process {pid} has not answered within {seconds} seconds; it may still do what it was asked"
    )]
    NoAnswer {
        /// The process.
        pid: u32,
        /// The time that it had.
        seconds: u64,
    },
    /// The JVM ends instead of answering.
    #[error("process {pid} has gone")]
    Gone {
        /// The process.
        pid: u32,
        /// The reason.
        source: io::Error,
    },
    /// The JVM's socket refuses.
    #[error("cannot connect to {}", socket.display())]
    Refused {
        /// The socket.
        socket: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The process cannot be asked to listen.
    #[error("cannot send a signal to process {pid}")]
    NoSignal {
        /// The process.
        pid: u32,
        /// The reason.
        source: rustix::io::Errno,
    },
    /// The process has ended instead of listening.
    #[error("process {0} has ended")]
    Ended(u32),
    /// The JVM does not listen.
    #[error(
        "process {pid} does not listen, after {seconds} seconds: it may hang, or forbid attaching \
         (-XX:+DisableAttachMechanism)"
    )]
    Deaf {
        /// The process.
        pid: u32,
        /// The time that it had.
        seconds: u64,
    },
    /// The JVM cannot be shown that the signal is a request.
    #[error("cannot write {name} where process {pid} sees it")]
    NoRequest {
        /// The name of the file.
        name: String,
        /// The process.
        pid: u32,
        /// The reason.
        source: io::Error,
    },
    /// The JVM answers that it may not load agents.
    #[error(
        "the JVM was started with -XX:-EnableDynamicAgentLoading, which forbids it; \
         start it with -agentpath instead"
    )]
    NotLoaded,
    /// The agent answers that it does not start, with this code.
    #[error("the agent refuses (code {0})")]
    Agent(i32),
    /// The JVM answers nothing.
    #[error("the JVM has closed the connection without an answer")]
    Silent,
    /// The JVM answers with an error.
    #[error("the JVM refuses (code {code}): {said}")]
    Jvm {
        /// Its code.
        code: String,
        /// Its message.
        said: String,
    },
    /// The connection cannot be prepared.
    #[error(transparent)]
    Io(#[from] io::Error),
}

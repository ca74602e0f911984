//! Child processes that end with this one, and that the kernel confines.
//!
//! [`command`] and [`tied`] run a program by way of this executable itself, which asks the kernel
//! for it before it becomes the program ([`take_over`]): that needs no code between `fork` and
//! `exec`, and no thread of this process is ever restricted.
//!
//! - Landlock lets the program of [`command`], and all that it starts, write and delete only below
//!   named places, and use no TCP; it may read and run anything. What a kernel does not support is
//!   not guarded ([`guards`] says what is), and everything works as without it.
//! - Each child is killed when this process ends, in whatever way.
//! - Each begins a session, and with it a process group, by which all that it has started is found.
//!
//! **Invariant:** `main` calls [`take_over`] before all else.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
};
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal, setsid};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// The first argument of a process that is to become another program.
const MARK: &str = "--become";
/// The argument after the writable places. It differs from all of them, which are absolute.
const END: &str = "--";
/// The argument in its place if the program may write anywhere.
const ANYWHERE: &str = "--anywhere";
/// The path of the running executable, even if its file has been replaced.
const OURSELVES: &str = "/proc/self/exe";
/// Devices to which anything may write.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// A command that runs a program which may write at or below these places, as far as they exist. To
/// be started by [`spawn`].
pub fn command(program: &Path, writable: &[&Path]) -> Command {
    let mut command = Command::new(OURSELVES);
    command
        .args([MARK, &getpid().to_string()])
        .args(writable)
        .arg(END)
        .arg(program);
    command
}

/// A command that runs an unrestricted program which ends with this process. To be started by
/// [`spawn`].
pub fn tied(program: &Path) -> Command {
    let mut command = Command::new(OURSELVES);
    command
        .args([MARK, &getpid().to_string(), ANYWHERE])
        .arg(program);
    command
}

/// The program that a command runs in the end.
pub fn program(command: &Command) -> &OsStr {
    let mut arguments = command.get_args();
    let behind = arguments.find(|argument| [END, ANYWHERE].iter().any(|mark| argument == mark));
    match behind.and_then(|_| arguments.next()) {
        Some(program) if command.get_program() == OURSELVES => program,
        _ => command.get_program(),
    }
}

/// Starts it. The kernel kills it when the thread that started it ends, so that is a thread which
/// lives as long as this process.
///
/// # Errors
///
/// Fails if it cannot be started.
pub fn spawn(command: Command) -> io::Result<Child> {
    type Wanted = (Command, Sender<io::Result<Child>>);
    static STARTER: OnceLock<Sender<Wanted>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (send, wanted) = channel::<Wanted>();
        thread::spawn(move || {
            for (mut command, started) in wanted {
                // The caller waits for it.
                let _ = started.send(command.spawn());
            }
        });
        send
    });
    let (send, started) = channel();
    let gone = || io::Error::other("the thread that starts children has ended");
    starter.send((command, send)).map_err(|_| gone())?;
    started.recv().map_err(|_| gone())?
}

/// Becomes the program of a [`command`] if this process was started as one. Returns the error if
/// that fails; `None` if it was not.
pub fn take_over() -> Option<io::Error> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == MARK).then(|| become_program(arguments))
}

fn become_program(mut arguments: impl Iterator<Item = OsString>) -> io::Error {
    let parent = arguments.next();
    let mut is_restricted = true;
    let writable = arguments.by_ref().take_while(|place| {
        is_restricted = place != ANYWHERE;
        is_restricted && place != END
    });
    let writable: Vec<PathBuf> = writable.map(PathBuf::from).collect();
    let Some(program) = arguments.next() else {
        return io::Error::other(format!("{MARK} is not for people"));
    };
    if is_restricted {
        // If the kernel does not support or permit it, the program is unrestricted.
        let _ = restrict(&writable);
    }
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // The parent may have ended before this was requested.
    let now = getppid().map(|pid| OsString::from(pid.to_string()));
    if now != parent {
        return io::Error::other("who has started it has ended");
    }
    // There is no group with its number yet.
    let _ = setsid();
    Command::new(program).args(arguments).exec()
}

/// Restricts this thread, and all that it starts from now on.
fn restrict(writable: &[PathBuf]) -> Result<(), RulesetError> {
    let devices = DEVICES.iter().map(Path::new);
    let places = writable.iter().map(PathBuf::as_path).chain(devices);
    rules()?
        .add_rules(path_beneath_rules(places, writes()))?
        .restrict_self()?;
    Ok(())
}

/// All rights needed to change what is at a place.
fn writes() -> landlock::BitFlags<AccessFs> {
    AccessFs::from_write(ABI::V5)
}

/// The rules: what is forbidden except by exceptions, as far as the kernel supports it.
fn rules() -> Result<RulesetCreated, RulesetError> {
    files()?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writes())?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()
}

/// The minimum. Before Linux 5.19 a restricted process could not move a file to another directory
/// at all, so programs would behave differently than elsewhere.
fn files() -> Result<Ruleset, RulesetError> {
    needed().handle_access(AccessFs::from_write(ABI::V2))
}

/// A set of rules only for kernels that support all of it.
fn needed() -> Ruleset {
    Ruleset::default().set_compatibility(CompatLevel::HardRequirement)
}

/// What the kernel guards: `files` from Linux 5.19 on, `tcp` from 6.7 on, `signals` to other
/// processes from 6.12 on; nothing without Landlock.
pub fn guards() -> Vec<&'static str> {
    if files().and_then(Ruleset::create).is_err() {
        return Vec::new();
    }
    let tcp = needed().handle_access(AccessNet::from_all(ABI::V4));
    let signals = needed().scope(Scope::from_all(ABI::V6));
    let all = [
        ("files", true),
        ("tcp", tcp.is_ok()),
        ("signals", signals.is_ok()),
    ];
    let known = all.into_iter().filter(|(_, is_known)| *is_known);
    known.map(|(what, _)| what).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::ErrorKind;
    use std::net::TcpListener;

    /// The result of a thread that may write below one directory only; `None` if the kernel does
    /// not guard files.
    fn restricted<T: Send>(place: &Path, attempt: impl FnOnce() -> T + Send) -> Option<T> {
        if guards().is_empty() {
            eprintln!("not tried: this kernel has no Landlock, or an old one");
            return None;
        }
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                restrict(&[place.to_owned()]).expect("what the kernel says it can");
                attempt()
            });
            Some(thread.join().expect("no panic"))
        })
    }

    #[test]
    fn what_is_written_stays_in_its_place() {
        let dir = tempfile::tempdir().expect("a directory");
        let [inside, outside] = ["inside", "outside"].map(|name| {
            let place = dir.path().join(name);
            fs::create_dir_all(place.join("below")).expect("a directory");
            fs::write(place.join("file"), "precious").expect("a file");
            place
        });
        let refused = |place: &Path| {
            let file = place.join("file");
            let attempts = [
                fs::write(place.join("new"), "new"),
                fs::rename(place.join("new"), place.join("below/new")),
                fs::File::options().write(true).open(&file).map(drop),
                fs::create_dir(place.join("other")),
                fs::read(&file).map(drop),
                fs::remove_file(&file),
                fs::remove_dir(place.join("other")),
            ];
            attempts
                .map(|attempt| attempt.is_err_and(|why| why.kind() == ErrorKind::PermissionDenied))
        };
        let found = restricted(&inside, || {
            let nowhere = fs::write("/dev/null", "nothing");
            (refused(&inside), refused(&outside), nowhere.is_ok())
        });
        let Some((inside, elsewhere, nowhere)) = found else {
            return;
        };
        assert_eq!(inside, [false; 7]);
        // What does not exist cannot be moved, and everything may be read.
        assert_eq!(elsewhere, [true, false, true, true, false, true, false]);
        assert!(nowhere);
        // Other threads are not restricted.
        assert_eq!(refused(&outside), [false; 7]);
    }

    #[test]
    fn nobody_listens() {
        let dir = tempfile::tempdir().expect("a directory");
        let listen = || TcpListener::bind("127.0.0.1:0").map(drop);
        if let Some(found) = restricted(dir.path(), listen)
            && guards().contains(&"tcp")
        {
            let why = found.expect_err("a refusal").kind();
            assert_eq!(why, ErrorKind::PermissionDenied);
        }
        assert!(listen().is_ok());
    }
}

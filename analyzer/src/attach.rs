//! Makes a running JVM load a library, by HotSpot's attach protocol.
//!
//! A JVM is asked by a `SIGQUIT` to listen on a socket in its temporary directory, unless it does
//! so already; then a command is sent over the socket and its answer comes back. The signal ends
//! any other process, so the process must be recognised as a HotSpot JVM first.
//!
//! All paths are the target's own: it may run in a container, with another root and another number
//! for itself.
//!
//! - `error` says why a JVM does not do so.

mod error;

pub use error::Error;

use crate::signals;
use crate::temporary::Doomed;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest time that a JVM may take to listen, and to load a library. A JVM that is
/// garbage-collecting or swapped out is slow.
const PATIENCE: Duration = Duration::from_secs(15);

/// The bytes of one argument of the protocol's first version, without its end.
pub const MAX_ARGUMENT: usize = 1024;

/// The protocol's version that every HotSpot JVM speaks.
const VERSION: &str = "1";

/// A running HotSpot JVM.
#[derive(Debug)]
pub struct Target {
    pid: u32,
    /// Its own number for itself, which is another one in a container.
    own_pid: u32,
    /// Its root directory, seen from here.
    root: PathBuf,
    patience: Duration,
}

impl Target {
    /// Examines a process.
    ///
    /// # Errors
    ///
    /// Fails if there is no such process, if it is not a HotSpot JVM, or if it may not be examined.
    pub fn find(pid: u32) -> Result<Target, Error> {
        let proc = PathBuf::from(format!("/proc/{pid}"));
        if !proc.is_dir() {
            return Err(Error::NoProcess(pid));
        }
        let maps = match fs::read(proc.join("maps")) {
            Ok(maps) => maps,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(match fs::metadata(&proc).map(|proc| proc.uid()) {
                    Ok(own) if own == rustix::process::geteuid().as_raw() => Error::Guarded(pid),
                    Ok(user) => Error::OtherUser { pid, user },
                    Err(_) => Error::UnknownUser(pid),
                });
            }
            Err(source) => return Err(Error::Unseen { pid, source }),
        };
        // Its JDK may have been replaced since it started.
        let maps = String::from_utf8_lossy(&maps);
        if mapped(&maps, Path::new("/"), "libjvm.so").is_empty() {
            return Err(Error::NoJvm(pid));
        }
        let look =
            |name: &str| fs::read(proc.join(name)).map_err(|source| Error::Unseen { pid, source });
        let status = String::from_utf8_lossy(&look("status")?).into_owned();
        let forbids = look("cmdline")?
            .split(|byte| *byte == 0)
            .any(|argument| argument == b"-XX:+DisableAttachMechanism");
        if forbids {
            return Err(Error::Disabled(pid));
        }
        let own_pid = own_pid(&status).unwrap_or(pid);
        let root = proc.join("root");
        // With -Xrs it listens from the start, and so does one that was asked before.
        if !root.join(socket(own_pid)).exists() {
            survives_quit(pid, &status)?;
        }
        Ok(Target {
            pid,
            own_pid,
            root,
            patience: PATIENCE,
        })
    }

    /// Gives a file to the user as whom the process runs, if that is another one and it is
    /// permitted.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be given away.
    pub fn give(&self, file: &File) -> Result<(), Error> {
        let proc = PathBuf::from(format!("/proc/{}", self.pid));
        let unseen = |source| Error::Unseen {
            pid: self.pid,
            source,
        };
        let owner = fs::metadata(proc).map_err(unseen)?;
        let ours = file.metadata().map_err(unseen)?;
        if ours.uid() != owner.uid() {
            fchown(file, Some(owner.uid()), Some(owner.gid())).map_err(Error::NotGiven)?;
        }
        Ok(())
    }

    /// The files of this name that are mapped there, as libraries are. There are none if the
    /// process may not be examined.
    pub fn mapped(&self, name: &str) -> Vec<Mapped> {
        let proc = PathBuf::from(format!("/proc/{}", self.pid));
        let maps = fs::read(proc.join("maps")).unwrap_or_default();
        let root = fs::read_link(proc.join("root")).unwrap_or_default();
        let mut mapped = mapped(&String::from_utf8_lossy(&maps), &root, name);
        for file in &mut mapped {
            file.is_there &= self.seen(&file.path).is_file();
        }
        mapped
    }

    /// Whether paths mean the same to the target and to this process, as far as its root directory
    /// is concerned.
    pub fn shares_root(&self) -> bool {
        // With a slash behind it the link is followed, into the mounts of the target.
        let of = |path: PathBuf| fs::metadata(path).map(|root| (root.dev(), root.ino()));
        let [theirs, ours] = [of(self.root.join("")), of(PathBuf::from("/"))];
        matches!((theirs, ours), (Ok(theirs), Ok(ours)) if theirs == ours)
    }

    /// A path of the target, as seen from here.
    pub fn seen(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Makes the JVM load a library with these options.
    ///
    /// # Errors
    ///
    /// Fails if the JVM does not listen, forbids it, or if the library refuses.
    pub fn load(&self, library: &Path, options: &str) -> Result<(), Error> {
        let library = library.to_str().ok_or(Error::Path)?;
        for argument in [library, options] {
            if argument.len() > MAX_ARGUMENT {
                return Err(Error::TooLong(argument.len()));
            }
        }
        let pid = self.pid;
        let mut socket = self.listening()?;
        socket.set_read_timeout(Some(self.patience))?;
        // The third argument: the path is absolute.
        let command = [VERSION, "load", library, "true", options].join("\0") + "\0";
        socket
            .write_all(command.as_bytes())
            .map_err(|source| Error::Closed { pid, source })?;
        let mut answer = String::new();
        match socket.read_to_string(&mut answer) {
            Ok(_) => loaded(&answer),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err(Error::NoAnswer {
                pid,
                seconds: self.patience.as_secs(),
            }),
            Err(source) => Err(Error::Gone { pid, source }),
        }
    }

    /// The target's socket; it is asked to listen if it does not.
    fn listening(&self) -> Result<UnixStream, Error> {
        let socket = self.root.join(socket(self.own_pid));
        let connect = || match UnixStream::connect(&socket) {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            // It was left by a process that had the same number.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(None),
            Err(source) => Err(Error::Refused {
                socket: socket.clone(),
                source,
            }),
        };
        if let Some(stream) = connect()? {
            return Ok(stream);
        }
        // The socket was that of another process: this one may only be starting.
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid));
        survives_quit(self.pid, &status.unwrap_or_default())?;
        // If this file exists, the JVM takes the signal for a request; else it prints its threads.
        let request = Request::make(self)?;
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(Error::NoProcess(self.pid))?;
        kill_process(pid, Signal::QUIT).map_err(|source| Error::NoSignal {
            pid: self.pid,
            source,
        })?;
        let asked = Instant::now();
        while asked.elapsed() < self.patience {
            sleep(Duration::from_millis(20));
            if let Some(stream) = connect()? {
                drop(request);
                return Ok(stream);
            }
            if !Path::new(&format!("/proc/{}", self.pid)).is_dir() {
                return Err(Error::Ended(self.pid));
            }
        }
        Err(Error::Deaf {
            pid: self.pid,
            seconds: self.patience.as_secs(),
        })
    }
}

/// A file that a process has mapped.
#[derive(Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Its path, as the process sees it.
    pub path: PathBuf,
    /// Whether the file still exists: if another one has replaced it, that is loaded beside it.
    pub is_there: bool,
}

/// Parses `/proc/PID/maps`. Its paths begin at the root of the process's own mounts, which is that
/// of the process unless `chroot` has changed it, and then at ours.
fn mapped(maps: &str, root: &Path, name: &str) -> Vec<Mapped> {
    let mut all: Vec<Mapped> = Vec::new();
    for line in maps.lines() {
        let path = line.find('/').map_or("", |start| &line[start..]);
        let there = path.strip_suffix(" (deleted)");
        let mapped = Path::new(there.unwrap_or(path));
        if mapped.file_name().is_none_or(|file| file != name) {
            continue;
        }
        let below = mapped.strip_prefix(root).unwrap_or(mapped);
        let file = Mapped {
            path: Path::new("/").join(below),
            is_there: there.is_none(),
        };
        if !all.contains(&file) {
            all.push(file);
        }
    }
    all
}

/// The path on which a JVM listens, below its root.
fn socket(own_pid: u32) -> PathBuf {
    PathBuf::from(format!("tmp/.java_pid{own_pid}"))
}

/// The file that makes `SIGQUIT` a request; it is removed at the end.
struct Request {
    path: PathBuf,
    _doomed: Doomed,
}

impl Request {
    fn make(target: &Target) -> Result<Request, Error> {
        let name = format!(".attach_pid{}", target.own_pid);
        // Its directory may not be writable; then the JVM looks into the temporary one.
        let places = [
            PathBuf::from(format!("/proc/{}/cwd", target.pid)),
            target.seen(Path::new("/tmp")),
        ];
        let mut refused = None;
        for place in places {
            match Request::at(place.join(&name)) {
                Ok(request) => return Ok(request),
                Err(error) => refused = Some(error),
            }
        }
        Err(Error::NoRequest {
            name,
            pid: target.pid,
            source: refused.expect("there are two places"),
        })
    }

    /// Creates the file. The directory belongs to another user, who may have put a link there to a
    /// file of ours.
    fn at(path: PathBuf) -> io::Result<Request> {
        match File::create_new(&path) {
            // An interrupted request has left it.
            Err(error)
                if error.kind() == ErrorKind::AlreadyExists
                    && fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) => {}
            made => drop(made?),
        }
        Ok(Request {
            _doomed: Doomed::new(&path),
            path,
        })
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The number that a process has for itself, from its `/proc/PID/status`: the innermost of its
/// numbers.
fn own_pid(status: &str) -> Option<u32> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().next_back()?.parse().ok()
}

/// Refuses to send the signal to a process that it would end.
fn survives_quit(pid: u32, status: &str) -> Result<(), Error> {
    match catches_quit(status) {
        true => Ok(()),
        false => Err(Error::Endangered(pid)),
    }
}

/// Whether a process handles `SIGQUIT`, by its `/proc/PID/status`.
fn catches_quit(status: &str) -> bool {
    signals::has(status, "SigCgt", Signal::QUIT.as_raw()).unwrap_or(true)
}

/// Reads the JVM's answer to `load`: a code of its own, and the library's.
fn loaded(answer: &str) -> Result<(), Error> {
    let mut lines = answer.lines().map(str::trim);
    let code = lines.next().unwrap_or("");
    let said = lines.collect::<Vec<_>>().join(" ");
    if answer.contains("Dynamic agent loading is not enabled") {
        return Err(Error::NotLoaded);
    }
    // JDK 17 and 25 write the library's code on the second line in different words.
    let library: Option<i32> = said
        .strip_prefix("return code:")
        .unwrap_or(&said)
        .trim()
        .parse()
        .ok();
    match (code, library) {
        ("0", Some(0)) => Ok(()),
        ("0", Some(code)) => Err(Error::Agent(code)),
        ("", _) => Err(Error::Silent),
        _ => Err(Error::Jvm {
            code: code.to_owned(),
            said,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_in_a_container_has_another_number_of_its_own() {
        assert_eq!(own_pid("Name:\tjava\nNSpid:\t4711\t12\n"), Some(12));
        assert_eq!(own_pid("Name:\tjava\nNSpid:\t4711\n"), Some(4711));
        assert_eq!(own_pid("Name:\tjava\n"), None);
    }

    #[test]
    fn mapped_files_are_known_by_their_names() {
        let maps = "7f00-7f01 r--p 00000000 08:01 12   /opt/a b/libhindsight.so\n\
                    7f01-7f02 r-xp 00001000 08:01 12   /opt/a b/libhindsight.so\n\
                    7f02-7f03 r-xp 00001000 08:01 13   /opt/old/libhindsight.so (deleted)\n\
                    7f03-7f04 r-xp 00001000 08:01 14   /opt/xlibhindsight.so\n\
                    7f04-7f05 rw-p 00000000 00:00 0    [stack]\n";
        let file = |path: &str, is_there| Mapped {
            path: path.into(),
            is_there,
        };
        let found = |root: &str| mapped(maps, Path::new(root), "libhindsight.so");
        let both = [
            file("/opt/a b/libhindsight.so", true),
            file("/opt/old/libhindsight.so", false),
        ];
        assert_eq!(found("/"), both);
        assert_eq!(found("/opt/a b")[0], file("/libhindsight.so", true));
    }

    #[test]
    fn a_process_that_the_signal_would_end_is_known() {
        assert!(catches_quit("SigCgt:\t2000000181005ccf\n"));
        assert!(!catches_quit("SigCgt:\t0000000000000002\n"));
        assert!(!catches_quit("SigCgt:\t0000000000000000\n"));
    }

    #[test]
    fn a_request_follows_no_link() {
        let dir = tempfile::tempdir().unwrap();
        let [link, victim] = ["link", "victim"].map(|name| dir.path().join(name));
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &link).unwrap();
        assert!(Request::at(link).is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        let left = dir.path().join("left");
        fs::write(&left, "").unwrap();
        drop(Request::at(left.clone()).unwrap());
        assert!(!left.exists());
    }

    #[test]
    fn answers_are_understood() {
        for whole in ["0\n0\n", "0\nreturn code: 0\n"] {
            assert!(loaded(whole).is_ok(), "{whole}");
        }
        for (answer, part) in [
            ("", "without an answer"),
            ("0\nreturn code: -1\n", "code -1"),
            (
                "100\nno.so: cannot open shared object file\n",
                "cannot open shared object file",
            ),
            (
                "0\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading\n",
                "forbids it",
            ),
            ("101\nbad\n", "code 101"),
        ] {
            let error = loaded(answer).unwrap_err().to_string();
            assert!(error.contains(part), "{answer}: {error}");
        }
    }

    #[test]
    fn what_is_no_jvm_is_left_alone() {
        let error = Target::find(std::process::id()).unwrap_err().to_string();
        assert!(error.contains("no HotSpot JVM"), "{error}");
        let error = Target::find(u32::MAX).unwrap_err().to_string();
        assert!(error.contains("no process"), "{error}");
    }
}

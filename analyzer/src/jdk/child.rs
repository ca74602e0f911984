//! Child processes: runs them for a limited time.
//!
//! The processes that they start end with them.

use super::Error;
use crate::confine;
use crate::files::failed;
use crate::temporary::Doomed;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How a child process ended.
#[derive(Debug)]
pub enum Ended {
    /// It ended by itself.
    Exit(ExitStatus),
    /// It was killed.
    TimedOut {
        /// Whether it was killed because it was idle for long, and not for the time that it took.
        idle: bool,
    },
}

/// The most time that a child may take on a machine without a free core, as a multiple of its time.
const MOST_STARVED: u32 = 4;

/// The size from which on the file with a child's output is truncated, which loses the earlier
/// output.
const MOST_SAID: u64 = 64 << 20;

/// Runs `command` to its end, or kills it after `timeout`, or when it has been idle for `idle`. The
/// time that it has waited for a core does not count, up to [`MOST_STARVED`] times its time: a busy
/// machine says nothing about the child. `log` receives its output, and is opened for appending.
///
/// # Errors
///
/// Fails if it cannot be run.
pub fn run(
    command: Command,
    timeout: Duration,
    idle: Option<Duration>,
    log: Option<&File>,
) -> Result<Ended, Error> {
    let program = confine::program(&command).to_owned();
    let child = confine::spawn(command).map_err(failed("run", Path::new(&program)))?;
    let watch = idle.map(|idle| Watch::new(child.id(), idle));
    end(child, timeout, watch, log)
}

/// Waits for the end of a child, or kills it after `timeout`.
///
/// # Errors
///
/// Fails if its state is not available.
pub fn wait(child: Child, timeout: Duration) -> Result<Ended, Error> {
    end(child, timeout, None, None)
}

fn end(
    mut child: Child,
    timeout: Duration,
    mut watch: Option<Watch>,
    log: Option<&File>,
) -> Result<Ended, Error> {
    let group = Pid::from_child(&child);
    let doomed = Doomed::group(group);
    // This comes before the exit status is fetched: until then, no other process gets its number.
    let end_all = |child: &mut Child| {
        // A child that only ends with this process is in this process's group, and there is no
        // group with its number.
        let _ = kill_process_group(group, Signal::KILL);
        drop(doomed);
        child.wait()
    };
    let started = Instant::now();
    loop {
        if has_ended(group)? {
            return Ok(Ended::Exit(end_all(&mut child)?));
        }
        if log.is_some_and(|log| log.metadata().is_ok_and(|found| found.len() > MOST_SAID)) {
            let _ = log.map(|log| log.set_len(0));
        }
        let idle = watch.as_mut().is_some_and(Watch::is_idle);
        let elapsed = started.elapsed();
        let is_over = || {
            elapsed >= timeout * MOST_STARVED
                || elapsed.saturating_sub(starved(child.id())) >= timeout
        };
        if idle || elapsed >= timeout && is_over() {
            // It may have ended at this very moment, which is as good.
            let _ = child.kill();
            end_all(&mut child)?;
            return Ok(Ended::TimedOut { idle });
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a child has ended, whose status [`Child::wait`] still returns.
fn has_ended(child: Pid) -> Result<bool, Errno> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(child), options)?.is_some())
}

/// The time for which a process was ready to run and no core was free: that of its thread which has
/// waited longest, minus the time that its other threads may have taken together. Zero if the
/// kernel does not tell.
fn starved(process: u32) -> Duration {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else {
        return Duration::ZERO;
    };
    // Nanoseconds on a core, then nanoseconds in the queue for one.
    let times = |task: fs::DirEntry| {
        let told = fs::read_to_string(task.path().join("schedstat")).ok()?;
        let mut times = told.split_whitespace().map(str::parse::<u64>);
        Some((times.next()?.ok()?, times.next()?.ok()?))
    };
    let all: Vec<(u64, u64)> = tasks.flatten().filter_map(times).collect();
    let used: u64 = all.iter().map(|(used, _)| used).sum();
    let longest = all.iter().max_by_key(|(_, waited)| waited);
    let starved = longest.map_or(0, |(own, waited)| waited.saturating_sub(used - own));
    Duration::from_nanos(starved)
}

/// Watches whether a child is busy.
struct Watch {
    process: u32,
    idle: Duration,
    /// When it was last busy, and the processor time that it had used by then.
    busy: (Instant, u64),
    looked: Instant,
}

impl Watch {
    /// The time between two looks.
    const PAUSE: Duration = Duration::from_millis(250);

    fn new(process: u32, idle: Duration) -> Watch {
        let now = Instant::now();
        Watch {
            process,
            idle,
            busy: (now, 0),
            looked: now,
        }
    }

    /// Whether it has been idle for long. A JVM whose threads all wait uses some thousandths of a
    /// core by itself; above a fiftieth it is busy.
    fn is_idle(&mut self) -> bool {
        let pause = self.looked.elapsed();
        if pause < Watch::PAUSE {
            return false;
        }
        self.looked = Instant::now();
        let Some(used) = processor_time(self.process) else {
            return false;
        };
        let (since, before) = self.busy;
        let most = since.elapsed().as_millis() as u64 / 10 / 50;
        let is_busy = used.saturating_sub(before) > most.max(1);
        // After a long pause between looks nothing is known: both processes may have been stopped.
        if is_busy || pause > 8 * Watch::PAUSE || has_children(self.process) {
            self.busy = (self.looked, used);
            return false;
        }
        since.elapsed() >= self.idle
    }
}

/// The processor time that a child has used, in hundredths of a second; `None` if the process is
/// not visible, is stopped by the kernel, or waits for a disk.
fn processor_time(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The state and the parent follow the name, which may contain anything; the times in the
    // program and in the kernel are the 14th and 15th of all fields.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let is_waiting = *fields.first()? == "S" || *fields.first()? == "R";
    (is_waiting && number(1)? == u64::from(std::process::id())).then_some(number(11)? + number(12)?)
}

/// Whether it has children of its own, for whose end it may wait.
fn has_children(process: u32) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else {
        return false;
    };
    let children = |task: fs::DirEntry| fs::read_to_string(task.path().join("children"));
    let mut children = tasks.flatten().flat_map(children);
    children.any(|children| !children.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_does_nothing_is_idle_and_one_that_works_is_not() {
        let run = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            let (timeout, idle) = (Duration::from_secs(4), Duration::from_secs(2));
            run(command, timeout, Some(idle), None).unwrap()
        };
        assert!(matches!(
            run("exec sleep 100"),
            Ended::TimedOut { idle: true }
        ));
        let busy = Ended::TimedOut { idle: false };
        let is_busy = |ended: Ended| format!("{ended:?}") == format!("{busy:?}");
        assert!(is_busy(run("while :; do :; done")));
        // It waits for another process, which may do anything.
        assert!(is_busy(run("sleep 5; true")));
        assert!(matches!(run("exit 3"), Ended::Exit(_)));
    }

    #[test]
    fn what_a_child_says_is_kept_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let file = (File::options().append(true).create(true).open(&log)).unwrap();
        let mut command = Command::new("sh");
        let loud = "head -c 100000000 /dev/zero >&2; sleep 0.3; echo the last words >&2";
        command.args(["-c", loud]).stderr(file.try_clone().unwrap());
        let ended = run(command, Duration::from_secs(60), None, Some(&file)).unwrap();
        assert!(matches!(ended, Ended::Exit(status) if status.success()));
        let said = fs::read(&log).unwrap();
        assert!(said.len() as u64 <= MOST_SAID, "{}", said.len());
        assert!(said.ends_with(b"the last words\n"));
    }

    #[test]
    fn what_a_child_waits_for_a_core_is_not_its_time() {
        if !Path::new("/proc/self/schedstat").exists() {
            return;
        }
        let busy = "while :; do :; done";
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut others: Vec<Child> = (0..2 * cores)
            .map(|_| Command::new("sh").args(["-c", busy]).spawn().unwrap())
            .collect();
        let mut command = Command::new("nice");
        command.args(["-n", "19", "sh", "-c", busy]);
        let started = Instant::now();
        let ended = run(command, Duration::from_secs(1), None, None).unwrap();
        let took = started.elapsed();
        for other in &mut others {
            other.kill().unwrap();
            other.wait().unwrap();
        }
        assert!(matches!(ended, Ended::TimedOut { idle: false }));
        assert!(took >= Duration::from_millis(1500), "{took:?}");
    }
}

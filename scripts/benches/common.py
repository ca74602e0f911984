"""What the benchmarks share: JDKs, builds, processes, figures."""

import os
import pathlib
import re
import resource
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "bench"
AGENT = ROOT / "target" / "release" / "libhindsight.so"
HINDSIGHT = ROOT / "target" / "release" / "hindsight"


def shell(commands, *arguments):
    """Runs commands that may use the functions of scripts/lib.sh; what they print."""
    return subprocess.run(
        ["bash", "-c", f"source scripts/lib.sh; {commands}", "bash", *arguments],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout


def release(home):
    """The whole version of a JDK, like 17.0.12."""
    return re.search(r'JAVA_VERSION="([^"]+)"', (home / "release").read_text()).group(1)


def jdks():
    """Homes of the JDKs by major version, as scripts/lib.sh finds them."""
    found = {}
    for line in shell("find_jdks").splitlines():
        home = pathlib.Path(line)
        found.setdefault(int(re.match(r"\d+", release(home)).group()), home)
    return dict(sorted(found.items()))


def chosen(homes, option):
    """The JDKs that --jdk names, one or some, or all if it names none. If one is not there, this is the end."""
    versions = [option] if isinstance(option, int) else option or homes
    for version in versions:
        if version not in homes:
            sys.exit(f"no JDK {version}; there are {', '.join(map(str, homes))}")
    return {version: homes[version] for version in versions}


def build():
    """Builds agent and command in release mode."""
    shell("set_up; build")


def cargo_build(*arguments):
    """Builds something else in release mode; what cargo prints."""
    return shell('set_up; cargo build --release --locked --quiet "$@"', *arguments)


def jars(coordinates, table="jars.txt"):
    """Paths of jars of a list of test-programs/, downloaded and checked if need be."""
    if not coordinates:
        return []
    return shell('set_up_maven; scripts/jars --table "$@"', table, "--list", *coordinates).splitlines()


def fresh(name):
    """An empty directory of this name."""
    path = WORK / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def javac(home, out, sources, classpath=(), options=()):
    """Compiles sources; the output directory."""
    out.mkdir(parents=True, exist_ok=True)
    command = [home / "bin/javac", "-g", "-nowarn", "-d", out, *options]
    if classpath:
        command += ["-cp", ":".join(map(str, classpath))]
    done = subprocess.run([*map(str, command), *map(str, sources)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return out


def agent_option(**options):
    """The -agentpath argument; underscores in keys become dashes."""
    pairs = []
    for key, value in options.items():
        value = str(value)
        pairs.append(f'{key.replace("_", "-")}={chr(34) + value + chr(34) if "," in value else value}')
    return f"-agentpath:{AGENT}={','.join(pairs)}"


def spread(values):
    """`median [minimum..maximum]` of some figures."""
    return f"{statistics.median(values):9.3g} [{min(values):.3g}..{max(values):.3g}]"


def ratio(values, base):
    """The ratio of two medians."""
    return statistics.median(values) / statistics.median(base)


def cpu_of(command, **options):
    """Runs a command; its CPU seconds (user and system), wall seconds, and the completed process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, **options)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, done


class Turns:
    """A process that runs when it is its turn, and is stopped while others have theirs."""

    def __init__(self, command):
        self.command = command
        self.out, self.err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdout=self.out, stderr=self.err)
        self.ends = os.pidfd_open(self.process.pid)
        os.kill(self.process.pid, signal.SIGSTOP)
        self.seconds = 0.0
        self.resident = None

    def turn(self, seconds):
        """Lets it run for so long; whether it goes on afterwards."""
        start = time.perf_counter()
        os.kill(self.process.pid, signal.SIGCONT)
        ended, _, _ = select.select([self.ends], [], [], seconds)
        if not ended:
            os.kill(self.process.pid, signal.SIGSTOP)
        self.seconds += time.perf_counter() - start
        if ended:
            _, status, usage = os.wait4(self.process.pid, 0)
            self.process.returncode = os.waitstatus_to_exitcode(status)
            self.resident = usage.ru_maxrss // 1024
        return not ended

    def done(self):
        """The completed process."""
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read())
            file.close()
        os.close(self.ends)
        return subprocess.CompletedProcess(self.command, self.process.returncode, *texts)


def in_turns(commands, slice=0.1):
    """Runs commands side by side, never two at a time, each for `slice` seconds before it is the next one's turn.

    A virtual processor is a hyper-thread, whose other half somebody else may have: code takes 1.5 times as long
    for tenths of seconds to minutes, and no counter of the guest tells. In turns, all sides get the same share of it.

    For each: the completed process, seconds that it ran, the most memory that was resident, in MB.
    """
    processes = [Turns([str(word) for word in command]) for command in commands]
    try:
        going = list(processes)
        while going:
            going = [each for each in going if each.turn(slice)]
    finally:
        for each in processes:
            if each.process.returncode is None:
                each.process.kill()
    return [(each.done(), each.seconds, each.resident) for each in processes]


def note(text):
    """A line of progress."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr)

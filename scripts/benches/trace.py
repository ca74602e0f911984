"""What recording a whole run costs: time, bytes, and reading it back."""

import argparse
import json
import os
import re
import statistics
import subprocess
import time

from .common import ROOT, agent_option, build, chosen, fresh, jars, javac, jdks, note
from .overhead import ECJ, TREES, unpack
from .whole import Program

MODES = {
    "calls": "calls",
    "calls and writes": "calls;writes",
    "with values": "calls;writes;values",
}

ASM = ["org.ow2.asm:asm:9.9", "org.ow2.asm:asm-tree:9.9", "org.ow2.asm:asm-commons:9.9"]
KIEKER = "net.kieker-monitoring:kieker:1.15.2:aspectj"
# Together with the trees of `overhead`, these are more than 500,000 lines.
MORE_TREES = [
    "commons-net:commons-net:3.10.0:sources",
    "commons-io:commons-io:2.15.1:sources",
    "org.apache.commons:commons-text:1.11.0:sources",
    "org.apache.commons:commons-csv:1.10.0:sources",
]
# The end of the output lines of programs that run in rounds.
ROUND = " ok"


def kieker(home, work):
    """The options of a JVM with Kieker's agent and its writer of binary files, one record a call."""
    out = work / "kieker-out"
    out.mkdir()
    writer = "kieker.monitoring.writer.filesystem"
    settings = {
        "org.aspectj.weaver.loadtime.configuration": f"file:{ROOT / 'test-programs/bench/kieker-aop.xml'}",
        "kieker.monitoring.skipDefaultAOPConfiguration": "true",
        "kieker.monitoring.writer": f"{writer}.FileWriter",
        f"{writer}.FileWriter.logStreamHandler": f"{writer}.BinaryLogStreamHandler",
        f"{writer}.FileWriter.customStoragePath": out,
    }
    # Its weaver reads class files up to Java 11.
    classes = javac(home, work / "kieker", [ROOT / "test-programs/bench/TraceSmall.java"], options=["--release", "11"])
    return [f"-javaagent:{jars([KIEKER])[0]}", *(f"-D{name}={value}" for name, value in settings.items()), "-cp", classes]


def small(home, work):
    """Nanoseconds of CPU time of the recorded thread, per call, beside a recorder made with ASM and beside Kieker."""
    asm = jars(ASM)
    classes = javac(home, work / "small", [ROOT / "test-programs/bench" / f"{name}.java"
                                           for name in ("TraceSmall", "PeerTrace")], asm)
    sides = {"without": None, **{name: {"trace-what": what} for name, what in MODES.items()},
             "and coverage": {"trace-what": "calls;writes;values;coverage"},
             "one call of 1000": {"sample": "TraceSmall$Calls/1000"},
             "paused": {"from": "TraceSmall.none"},
             "ASM, a stream": "asm", "Kieker": "kieker"}
    calls = {}
    for name, options in sides.items():
        out = work / "small-out"
        subprocess.run(["rm", "-rf", out], check=True)
        out.mkdir()
        command, rest = ["-cp", ":".join(map(str, [classes, *asm]))], ["TraceSmall"]
        if options == "asm":
            command += ["PeerTrace", out]
        elif options == "kieker":
            # A call takes sixty bytes, unpacked, so there are fewer of them.
            command, rest = kieker(home, work), ["TraceSmall", "1000000"]
        elif options:
            command.insert(0, agent_option(out=out, mode="trace", **options))
        printed = subprocess.run([home / "bin/java", *command, *rest],
                                 check=True, capture_output=True, text=True).stdout
        print(f"{name:>18}: {printed.splitlines()[-1]}", flush=True)
        found = re.search(r"static call ([0-9.]+) ns \(process ([0-9.]+) ns\)", printed.splitlines()[-1])
        calls[name] = [float(value) for value in found.groups()]
    subprocess.run(["rm", "-rf", work / "small-out", work / "kieker-out"], check=True)
    for at, what in enumerate(["the thread that calls", "the whole process"]):
        ours = calls["calls"][at] - calls["without"][at]
        text = f"a call and its return, CPU time of {what}: {ours:.1f} ns"
        for peer in ("ASM, a stream", "Kieker"):
            took = calls[peer][at] - calls["without"][at]
            text += f"; {peer} {took:.1f} ns, {took / max(ours, 0.1):.1f} x"
        print(text, flush=True)


def long(home, work, millions):
    """A run of very many events: how it is opened, and read in constant memory."""
    classes = javac(home, work / "long", [ROOT / "test-programs/bench/TraceLong.java"])
    out = work / "long-out"
    began = time.monotonic()
    subprocess.run([home / "bin/java", agent_option(out=out, mode="trace"), "-cp", classes,
                    "TraceLong", str(millions)], check=True, capture_output=True)
    print(f"{millions} million events recorded in {time.monotonic() - began:.1f} s")
    hindsight = ROOT / "target/release/hindsight"
    for name, command in {
        "open, and 10 events": ["events", out, "--limit", "10"],
        "count all": ["stats", out, "--format", "json"],
        "count all on one core": ["taskset", "-c", "0", "stats", out, "--format", "json"],
        "all as tables": ["export", "--parquet", out, "--out", work / "long-tables"],
    }.items():
        if command[0] == "export" and millions > 100:
            continue
        prefix, command = (command[:3], command[3:]) if command[0] == "taskset" else ([], command)
        began = time.monotonic()
        with open(work / "told", "w") as told:
            process = subprocess.Popen([*prefix, hindsight, *command, "--quiet"], stdout=told)
            _, status, used = os.wait4(process.pid, 0)
        wall, cpu = time.monotonic() - began, used.ru_utime + used.ru_stime
        if status:
            raise RuntimeError(f"{command} failed")
        text = f"{name:>22}: {wall:6.2f} s wall, {cpu:6.2f} s CPU, {used.ru_maxrss / 1024:.0f} MB at most"
        if command[0] == "stats":
            stats = json.loads((work / "told").read_text())
            text += (f"; {stats['events'] / 1e6:.0f} M events, {stats['bytes'] / stats['events']:.2f} B each,"
                     f" {stats['events'] / cpu / 1e6:.0f} M/s and core, {stats['lost']} lost")
        print(text, flush=True)
    subprocess.run(["rm", "-rf", out, work / "long-tables"], check=True)


class Load:
    """A program that runs in rounds."""

    def __init__(self, name, title, path, arguments, exclude):
        self.name, self.title, self.path, self.arguments, self.exclude = name, title, path, arguments, exclude

    def run(self, home, work, agent, rounds):
        """CPU and wall seconds of the rounds of the last third."""
        subprocess.run(["rm", "-rf", work / "out", work / "product"], check=True)
        (work / "product").mkdir()
        arguments = [str(word).replace("@ROUNDS@", str(rounds)) for word in self.arguments]
        command = [home / "bin/java", *agent, "-Xmx3g", "-cp", ":".join(map(str, self.path)), *arguments]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        found = [line.split() for line in printed if line.endswith(ROUND)]
        if len(found) != rounds:
            raise RuntimeError(f"{self.name}: {printed}")
        last = found[-max(1, rounds // 3):]
        return [int(cpu) / 1000 for cpu, *_ in last], [int(wall) / 1000 for _, wall, *_ in last]


def loads(names, home, work, trees):
    """What is recorded: ecj and the programs of `scripts/bench whole`."""
    classes = javac(home, work / "classes", [ROOT / "test-programs/bench" / f"{name}.java"
                                             for name in ("CompileLoop", "RunLoop")])
    for name in names:
        if name == "ecj":
            lines = unpack(work / "src", trees)
            yield Load(name, f"ecj compiling {lines:,} lines", [classes, *jars([ECJ])],
                       ["CompileLoop", "ecj", work / "src", work / "product", "@ROUNDS@"], "CompileLoop")
        else:
            program = Program(name, home)
            places = {"@TREES@": str(program.trees), "@WORK@": str(work / "product/@ROUND@")}
            arguments = program.spec["args"]
            for place, value in places.items():
                arguments = arguments.replace(place, value)
            yield Load(name, program.spec["description"], [classes, program.classes, *program.jars],
                       ["RunLoop", "@ROUNDS@", "Driver", *arguments.split()], "RunLoop")


def told(out):
    """What `hindsight stats` says of a recording, and how long it took."""
    began = time.monotonic()
    text = subprocess.run([ROOT / "target/release/hindsight", "stats", out, "--format", "json", "--quiet"],
                          check=True, capture_output=True, text=True).stdout
    return json.loads(text), time.monotonic() - began


def compare(load, home, work, sides, options):
    """A table of one program, all sides in turn."""
    figures = {side: {"cpu": [], "wall": []} for side in sides}
    sizes = {}
    for run in range(options.runs):
        for side in figures:
            out = work / "out"
            agent = []
            if side in MODES:
                agent = [agent_option(out=out, mode="trace", exclude=load.exclude, **{"trace-what": MODES[side]})]
            cpu, wall = load.run(home, work, agent, options.rounds)
            figures[side]["cpu"] += cpu
            figures[side]["wall"] += wall
            note(f"  {load.name} run {run + 1} {side}: {cpu} {wall}")
            if agent:
                stats, took = told(out)
                sizes[side] = (stats["events"], stats["bytes"], stats["lost"], took)
    print(f"{load.title}, JDK {options.version}: a round of the last third of {options.rounds}, {options.runs} JVMs each")
    base = {what: statistics.median(figures["without"][what]) for what in ("cpu", "wall")}
    for side, of in figures.items():
        text = f"{side:>18}:"
        for what in ("cpu", "wall"):
            median = statistics.median(of[what])
            text += f" {median:6.2f} s {what} [{min(of[what]):.2f}..{max(of[what]):.2f}] {median / base[what]:5.2f} x,"
        text = text[:-1]
        if side in sizes:
            events, size, lost, took = sizes[side]
            text += (f"; {events / 1e6:.0f} M events, {size / events:.2f} B each, {lost} lost;"
                     f" read back {events / took / 1e6:.0f} M/s")
        print(text, flush=True)


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench trace")
    parser.add_argument("programs", nargs="*", default=["ecj", "h2", "lucene"], metavar="PROGRAM",
                        help="ecj, or a program of `scripts/bench whole` (ecj h2 lucene)")
    parser.add_argument("--runs", type=int, default=3, help="JVMs of each kind")
    parser.add_argument("--rounds", type=int, default=6, help="in one JVM; the last third counts")
    parser.add_argument("--jdk", type=int, default=None)
    parser.add_argument("--trees", type=int, default=None, help="ecj: compile only so many source trees (all: 500,000 lines)")
    parser.add_argument("--modes", nargs="*", choices=MODES, default=list(MODES))
    parser.add_argument("--small", action="store_true", help="only single calls")
    parser.add_argument("--loads", action="store_true", help="only the programs")
    parser.add_argument("--long", type=int, metavar="MILLIONS",
                        help="only a run of so many million events, like 1000")
    options = parser.parse_args(rest)
    build()
    work = fresh("trace")
    options.version, home = min(chosen(jdks(), options.jdk).items())
    if options.long:
        long(home, work, options.long)
        return
    if not options.loads:
        small(home, work)
    if options.small:
        return
    trees = list(reversed(TREES)) + MORE_TREES
    for load in loads(options.programs, home, work, trees[:options.trees]):
        compare(load, home, work, ["without", *options.modes], options)
    subprocess.run(["rm", "-rf", work / "out", work / "product"], check=True)

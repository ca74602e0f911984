"""What recording a whole run costs: time, bytes, and reading it back."""

import argparse
import json
import os
import re
import statistics
import subprocess
import time

from .common import ROOT, agent_option, build, fresh, jars, javac, jdks, note
from .overhead import ECJ, TREES, unpack

MODES = {
    "calls": "calls",
    "calls and writes": "calls;writes",
    "with values": "calls;writes;values",
}

ASM = ["org.ow2.asm:asm:9.9", "org.ow2.asm:asm-tree:9.9", "org.ow2.asm:asm-commons:9.9"]


def small(home, work):
    """Nanoseconds of CPU time of the recorded thread, per call, beside a recorder made with ASM."""
    asm = jars(ASM)
    classes = javac(home, work / "small", [ROOT / "test-programs/bench" / f"{name}.java"
                                           for name in ("TraceSmall", "PeerTrace")], asm)
    sides = {"without": None, **{name: {"trace-what": what} for name, what in MODES.items()},
             "and coverage": {"trace-what": "calls;writes;values;coverage"},
             "one call of 1000": {"sample": "TraceSmall/1000"},
             "paused": {"from": "TraceSmall.none"},
             "ASM, a stream": "peer"}
    calls = {}
    for name, options in sides.items():
        out = work / "small-out"
        subprocess.run(["rm", "-rf", out], check=True)
        out.mkdir()
        command = ["-cp", ":".join(map(str, [classes, *asm]))]
        if options == "peer":
            command += ["PeerTrace", out]
        elif options:
            command.insert(0, agent_option(out=out, mode="trace", **options))
        printed = subprocess.run([home / "bin/java", *command, "TraceSmall"],
                                 check=True, capture_output=True, text=True).stdout
        print(f"{name:>18}: {printed.splitlines()[-1]}", flush=True)
        calls[name] = float(re.search(r"static call ([0-9.]+) ns", printed.splitlines()[-1]).group(1))
    ours, peer = (calls[name] - calls["without"] for name in ("calls", "ASM, a stream"))
    print(f"a call and its return: {ours:.1f} ns, with ASM and a stream {peer:.1f} ns, {peer / max(ours, 0.1):.0f} x")


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


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench trace")
    parser.add_argument("--runs", type=int, default=3, help="JVMs of each kind")
    parser.add_argument("--rounds", type=int, default=6,
                        help="compilations in one JVM; the last third counts")
    parser.add_argument("--jdk", type=int, default=None)
    parser.add_argument("--trees", type=int, default=1, help="compile only the last ones of the source trees")
    parser.add_argument("--small", action="store_true", help="only single calls")
    parser.add_argument("--long", type=int, metavar="MILLIONS",
                        help="only a run of so many million events, like 1000")
    options = parser.parse_args(rest)
    build()
    work = fresh("trace")
    homes = jdks()
    home = homes[options.jdk or min(homes)]
    if options.long:
        long(home, work, options.long)
        return
    small(home, work)
    if options.small:
        return
    lines = unpack(work / "src", TREES[-options.trees:])
    classes = javac(home, work / "classes", [ROOT / "test-programs/bench/CompileLoop.java"])
    ecj = jars([ECJ])
    note(f"ecj compiling {lines} lines, a round of the last third: CPU of the process, wall time")
    figures = {side: {"cpu": [], "wall": []} for side in ["without", *MODES]}
    sizes = {}
    for _ in range(options.runs):
        for side in figures:
            out = work / "out"
            subprocess.run(["rm", "-rf", out, work / "compiled"], check=True)
            agent = []
            if side in MODES:
                agent = [agent_option(out=out, mode="trace", exclude="CompileLoop",
                                      **{"trace-what": MODES[side]})]
            path = ":".join(map(str, [classes, *ecj]))
            printed = subprocess.run(
                [home / "bin/java", *agent, "-cp", path, "CompileLoop", "ecj", work / "src",
                 work / "compiled", str(options.rounds)],
                check=True, capture_output=True, text=True).stdout.splitlines()
            rounds = [line.split() for line in printed if line.endswith(" ok")]
            last = rounds[-(len(rounds) // 3):]
            figures[side]["cpu"] += [int(cpu) / 1000 for cpu, _, _ in last]
            figures[side]["wall"] += [int(wall) / 1000 for _, wall, _ in last]
            if agent:
                began = time.monotonic()
                told = subprocess.run(
                    [ROOT / "target/release/hindsight", "stats", out, "--format", "json", "--quiet"],
                    check=True, capture_output=True, text=True).stdout
                took = time.monotonic() - began
                stats = json.loads(told)
                sizes[side] = (stats["events"], stats["bytes"], stats["lost"], took)
    base = {what: statistics.median(figures["without"][what]) for what in ("cpu", "wall")}
    for side, of in figures.items():
        cpu, wall = statistics.median(of["cpu"]), statistics.median(of["wall"])
        text = f"{side:>18}: {cpu:6.2f} s CPU {cpu / base['cpu']:5.2f} x, {wall:6.2f} s wall {wall / base['wall']:5.2f} x"
        if side in sizes:
            events, size, lost, took = sizes[side]
            text += (f"; {events / 1e6:.0f} M events, {size / events:.2f} B each, {lost} lost;"
                     f" read back {events / took / 1e6:.0f} M/s")
        print(text, flush=True)

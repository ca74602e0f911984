"""What recording a whole run costs: time, bytes, and reading it back."""

import argparse
import json
import statistics
import subprocess
import time

from .common import ROOT, agent_option, build, fresh, jars, javac, jdks, note
from .overhead import ECJ, unpack

MODES = {
    "calls": "calls",
    "calls and writes": "calls;writes",
    "with values": "calls;writes;values",
}


def small(home, work):
    """Nanoseconds of CPU time of the recorded thread, per call."""
    classes = javac(home, work / "small", [ROOT / "test-programs/bench/TraceSmall.java"])
    for name, what in {"without": None, **MODES}.items():
        agent = [agent_option(out=work / "small-out", mode="trace", **{"trace-what": what})] if what else []
        subprocess.run(["rm", "-rf", work / "small-out"], check=True)
        printed = subprocess.run([home / "bin/java", *agent, "-cp", classes, "TraceSmall"],
                                 check=True, capture_output=True, text=True).stdout
        note(f"{name:>18}: {printed.splitlines()[-1]}")


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench trace")
    parser.add_argument("--runs", type=int, default=3, help="JVMs of each kind")
    parser.add_argument("--rounds", type=int, default=6,
                        help="compilations in one JVM; the last third counts")
    parser.add_argument("--jdk", type=int, default=None)
    parser.add_argument("--small", action="store_true", help="only single calls")
    options = parser.parse_args(rest)
    build()
    work = fresh("trace")
    homes = jdks()
    home = homes[options.jdk or min(homes)]
    small(home, work)
    if options.small:
        return
    lines = unpack(work / "src")
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
        note(text)

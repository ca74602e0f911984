"""Start-up, throws, snapshots."""

import argparse
import json
import statistics
import subprocess

from .common import ROOT, agent_option, build, chosen, cpu_of, fresh, in_turns, jars, javac, jdks, ratio, spread

# 13,500 classes; if more are wanted, the first of them are loaded again by other loaders.
LIBRARIES = [
    "com.google.javascript:closure-compiler:v20240317",
    "com.google.javascript:closure-compiler:v20190513",
    "org.eclipse.jdt:ecj:3.40.0",
    "org.eclipse.jdt:ecj:3.37.0",
    "com.alibaba.fastjson2:fastjson2:2.0.61",
]
SOURCES = ROOT / "test-programs" / "bench"


def variants(out):
    """The sides of a comparison: none, and each copy strategy."""
    return {"without": [], **{copy: [agent_option(out=f"{out}-{copy}", copy=copy)] for copy in ("reference", "fields")}}


def loading(version, home, count, link, runs):
    """CPU and wall time of a program that loads this many classes."""
    work = fresh(f"loading-{version}")
    classes = javac(home, work / "classes", [SOURCES / "LoadClasses.java"])
    sides = variants(work / "out")
    cpu, wall = {side: [] for side in sides}, {side: [] for side in sides}
    loaded = set()
    for _ in range(runs):
        for side, options in sides.items():
            c, w, done = cpu_of([str(home / "bin/java"), *options, "-cp", str(classes), "LoadClasses",
                                 str(count), link, *jars(LIBRARIES)])
            assert done.returncode == 0, done.stderr
            loaded.add(done.stdout.split()[0])
            cpu[side].append(c * 1000)
            wall[side].append(w * 1000)
    # The agent must not change which classes can be loaded.
    assert loaded == {str(count)}, loaded
    print(f"{count:,} classes to {link}, JDK {version}, {runs} runs each, milliseconds")
    for side in sides:
        print(f"  {side:10} CPU {spread(cpu[side])}   {ratio(cpu[side], cpu['without']):.3f} x"
              f"   wall {spread(wall[side])}   {ratio(wall[side], wall['without']):.3f} x")


def startup(rest):
    """CPU and wall time of a hello-world, or of a program that loads many classes."""
    parser = argparse.ArgumentParser(prog="scripts/bench startup")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--classes", type=int, default=0, help="load this many classes instead")
    parser.add_argument("--jdk", type=int, nargs="*", default=None)
    options = parser.parse_args(rest)
    runs = options.runs
    build()
    for version, home in chosen(jdks(), options.jdk).items():
        if options.classes:
            for link in ("load", "link"):
                loading(version, home, options.classes, link, runs)
            continue
        work = fresh(f"startup-{version}")
        classes = javac(home, work / "classes", [SOURCES / "Hello.java"])
        sides = variants(work / "out")
        cpu, wall = {side: [] for side in sides}, {side: [] for side in sides}
        for _ in range(runs):
            for side, agent in sides.items():
                c, w, done = cpu_of([str(home / "bin/java"), *agent, "-cp", str(classes), "Hello"])
                assert done.stdout == "hello\n", done.stderr
                cpu[side].append(c * 1000)
                wall[side].append(w * 1000)
        print(f"hello world, JDK {version}, {runs} runs each, milliseconds")
        for side in sides:
            more = sorted(wall[side])[runs // 2] - sorted(wall["without"])[runs // 2]
            print(f"  {side:10} CPU {spread(cpu[side])}   wall {spread(wall[side])}   wall {more:+.0f} ms")
    return 0


# A million throws are reported in this many parts: see `in_turns` for why the middle of a few long
# ones says little.
PARTS = 20


def throws(rest):
    """CPU time of a throw at some depth, and the heap afterwards."""
    parser = argparse.ArgumentParser(prog="scripts/bench throws")
    parser.add_argument("--depth", type=int, default=20)
    parser.add_argument("--jdk", type=int, nargs="*", default=None)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5, help="rounds in one JVM; all but the first count")
    parser.add_argument("--count", type=int, default=1_000_000, help="throws of a round")
    parser.add_argument("--kinds", nargs="*", default=["new", "shared", "fast"])
    options = parser.parse_args(rest)
    if options.rounds < 2:
        parser.error("--rounds must be 2 or more: the first does not count")
    if options.count < PARTS:
        parser.error(f"--count must be {PARTS} or more")
    build()
    for version, home in chosen(jdks(), options.jdk).items():
        work = fresh(f"throws-{version}")
        classes = javac(home, work / "classes", [SOURCES / "Throws.java"])
        for kind in options.kinds:
            sides = variants(work / "out")
            cost, heap = {side: [] for side in sides}, {side: [] for side in sides}
            for _ in range(options.runs):
                commands = [[home / "bin/java", *agent, "-Xmx512m", "-cp", classes, "Throws", options.depth,
                             options.count // PARTS, options.rounds * PARTS, kind] for agent in sides.values()]
                for side, (done, _, _) in zip(sides, in_turns(commands, 0.02)):
                    done.check_returncode()
                    lines = done.stdout.split()
                    cost[side] += [int(line) for line in lines[PARTS:-2]]
                    heap[side].append(int(lines[-1]))
            crashes = sum(len(list(out.glob("*.hsc*"))) for out in work.glob("out-*"))
            print(f"throw at depth {options.depth}, exception: {kind}, JDK {version}: ns of CPU each; {crashes} crash files")
            for side in sides:
                # The fastest tenth of all parts had the processor's core for itself.
                alone, alone_without = (statistics.quantiles(cost[of], n=10)[0] for of in (side, "without"))
                mean, mean_without = (statistics.mean(cost[of]) for of in (side, "without"))
                print(f"  {side:10} mean {mean:5.0f}   {mean / mean_without:.2f} x   fastest tenth {alone:5.0f}   "
                      f"{alone / alone_without:.2f} x   heap after {spread(heap[side])} kB", flush=True)
    return 0


def snapshot(rest):
    """Time from the failure to the finished file."""
    parser = argparse.ArgumentParser(prog="scripts/bench snapshot")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--objects", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    options = parser.parse_args(rest)
    build()
    for version, home in jdks().items():
        work = fresh(f"snapshot-{version}")
        classes = javac(home, work / "classes", [SOURCES / "Graph.java"])
        print(f"snapshot, JDK {version}: milliseconds from the failure to the file on disk")
        for objects in options.objects:
            times, size, stored = [], 0, 0
            for run in range(options.runs):
                out = work / f"out-{objects}-{run}"
                subprocess.run(
                    [home / "bin/java", agent_option(out=out, max_objects=1_000_000), "-cp", classes, "Graph", str(objects)],
                    capture_output=True, text=True)
                crash = json.loads((out / "run.json").read_text())["crashes"][0]
                times.append(crash["millis"])
                stored = crash["objects"]
                size = (out / crash["file"]).stat().st_size
            print(f"  {stored:8} objects {spread(times)}   {size / 1024:.0f} kB")
    return 0

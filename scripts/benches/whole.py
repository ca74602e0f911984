"""Whole programs under every mode of the agent: the same output as without it."""

import argparse
import json
import subprocess
import time
import zipfile

from .common import ROOT, agent_option, build, chosen, cpu_of, fresh, jars, javac, jdks, note
from .reproduce import properties

PROGRAMS = ROOT / "test-programs" / "whole"

MODES = {
    "reference": {"copy": "reference"},
    "fields": {"copy": "fields"},
    # Every method reports what leaves it and what it catches, which is the most that rules can ask
    # for.
    "rules": {"copy": "fields", "report": "uncaught;escape:**;caught:**"},
    "depth": {"copy": "depth:2"},
    "deep": {"copy": "deep"},
    "second": {"mode": "second-chance"},
    "trace": {"mode": "trace", "trace-what": "calls;writes;values"},
}
# The modes in which a run without failures has no probes.
LAZY = {"second"}
COLLECTORS = {
    "G1": ["-XX:+UseG1GC"],
    "Parallel": ["-XX:+UseParallelGC"],
    "Serial": ["-XX:+UseSerialGC"],
    "Z": ["-XX:+UseZGC"],
    "G1 -Xcomp": ["-XX:+UseG1GC", "-Xcomp"],
}
# Every mode with the default collector, and every collector with some mode.
USUAL = [("G1", "reference"), ("G1", "fields"), ("G1", "rules"), ("Parallel", "fields"), ("Serial", "rules"), ("Z", "reference")]
# The programs for which everything is compiled before it runs, which takes long.
COMPILED = {"xalan"}
# Counters of the agent's own problems. Any of them is a fault, whatever the output.
TROUBLES = ("internal_errors", "crashes_lost_internal", "crashes_not_written", "agent_not_started", "uncaught_not_hooked",
            "run_json_not_written", "classes_with_probes_of_another_run", "classes_left_alone:malformed")


class Program:
    """A folder of test-programs/whole, compiled once."""

    def __init__(self, name, home):
        self.name = name
        self.spec = properties(PROGRAMS / name / "whole.properties")
        self.work = fresh(f"whole/{name}")
        self.jars = jars(self.spec.get("jars", "").split())
        self.trees = self.work / "trees"
        for tree in jars(self.spec.get("trees", "").split()):
            with zipfile.ZipFile(tree) as archive:
                wanted = [entry for entry in archive.namelist() if entry.endswith(".java") and "module-info" not in entry]
                archive.extractall(self.trees, wanted)
        self.classes = self.work / "driver"
        driver = PROGRAMS / self.spec.get("driver", name) / "Driver.java"
        if driver.exists():
            options = ["--release", "17", *self.spec.get("javac", "").split()]
            javac(home, self.classes, [driver], self.jars, options)

    def run(self, home, jvm, agent):
        """Runs it in a fresh directory, which is the same one each time since its name may be part of the output."""
        work = fresh(f"whole/{self.name}/run")
        script = self.spec.get("script")
        places = {"@WORK@": str(work), "@TREES@": str(self.trees),
                  "@SCRIPT@": (PROGRAMS / self.name / script).read_text() if script else ""}
        arguments = [places.get(word, word) for word in self.spec.get("args", "").split()]
        for place in ("@WORK@", "@TREES@"):
            arguments = [word.replace(place, places[place]) for word in arguments]
        command = [home / "bin/java", "-Xverify:all", "-Xmx2g", *jvm, *agent, *self.spec.get("jvm", "").split(), f"-Djava.io.tmpdir={work}",
                   "-cp", ":".join([str(self.classes), *self.jars]), self.spec.get("main", "Driver"), *arguments]
        return cpu_of(list(map(str, command)), cwd=work, timeout=900)


def skipped(counters):
    """How many methods were left alone, and for which reasons other than that they cannot throw."""
    reasons = {name.split(":", 1)[1]: count for name, count in counters.items() if name.startswith(("methods_left_alone:", "classes_left_alone:"))}
    trivial = reasons.pop("cannot throw", 0)
    return trivial, reasons


def measure(program, home, version, collector, mode, base):
    """One run with the agent, as a row."""
    out = fresh(f"whole/{program.name}/out")
    options = {"out": out, **MODES[mode]}
    if program.spec.get("include"):
        options["include"] = program.spec["include"]
    row = {"program": program.name, "jdk": version, "collector": collector, "mode": mode, "faults": []}
    try:
        cpu, wall, done = program.run(home, COLLECTORS[collector], [agent_option(**options)])
    except subprocess.TimeoutExpired:
        row["faults"].append("timeout")
        return row
    row["cpu"], row["wall"] = cpu, wall
    if done.returncode != base.returncode:
        row["faults"].append(f"exit status {done.returncode}, not {base.returncode}")
    if done.stdout != base.stdout:
        kept = program.work / f"differs-{version}-{collector.replace(' ', '')}-{mode}"
        kept.with_suffix(".with").write_text(done.stdout + "\n--- stderr\n" + done.stderr)
        kept.with_suffix(".without").write_text(base.stdout + "\n--- stderr\n" + base.stderr)
        row["faults"].append(f"output differs, see {kept.relative_to(ROOT)}.*")
    said = [line for line in done.stderr.splitlines() if line.startswith("hindsight:")]
    row["faults"] += said[:2]
    try:
        counters = json.loads((out / "run.json").read_text())["counters"]
    except (OSError, ValueError, LookupError) as error:
        row["faults"].append(f"run.json: {error}")
        return row
    row["counters"] = counters
    row["faults"] += [f"{name} {counters[name]}" for name in TROUBLES if name in counters]
    if not counters.get("methods_instrumented") and mode not in LAZY:
        row["faults"].append("nothing was instrumented")
    return row


def show(row, base):
    """A row as a line of the table."""
    counters = row.get("counters", {})
    trivial, reasons = skipped(counters)
    same = base.get(row["collector"])
    ratio = f"{row['cpu'] / same:5.2f}" if same and "cpu" in row else "    -"
    others = ", ".join(f"{reason} {count}" for reason, count in sorted(reasons.items())) or "-"
    print(f"{row['program']:8} {row['jdk']:3} {row['collector']:9} {row['mode']:9} {'FAULT' if row['faults'] else 'same':5} "
          f"{row.get('cpu', 0):6.1f} {ratio} {counters.get('methods_instrumented', 0):7} {trivial:6} "
          f"{counters.get('crashes_stored', 0):4} {others}", flush=True)
    for fault in row["faults"]:
        print(f"    {fault}", flush=True)


def main(rest):
    names = sorted(path.parent.name for path in PROGRAMS.glob("*/whole.properties"))
    parser = argparse.ArgumentParser(prog="scripts/bench whole", description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"all by default: {', '.join(names)}")
    parser.add_argument("--jdk", type=int, nargs="*", default=None)
    parser.add_argument("--collector", nargs="*", choices=COLLECTORS, default=None)
    parser.add_argument("--mode", nargs="*", choices=MODES, default=None)
    parser.add_argument("--product", action="store_true", help="every collector with every mode, not just each with some")
    options = parser.parse_args(rest)
    unknown = set(options.programs) - set(names)
    if unknown:
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    build()
    homes = jdks()
    wanted = chosen(homes, options.jdk)
    print("Whole programs with -Xverify:all; stdout and exit status compared with a run without the agent.")
    print(f"{'program':8} JDK {'collector':9} {'mode':9} {'':5} {'CPU s':>6} ratio {'methods':>7} {'trivial':>6} {'crashes':>4} left alone")
    faults = runs = 0
    for name in options.programs or names:
        for version, home in wanted.items():
            program = Program(name, homes[min(homes)])
            pairs = list(USUAL)
            if options.product or options.collector or options.mode:
                pairs = [(collector, mode) for collector in options.collector or list(COLLECTORS)[:4] for mode in options.mode or MODES]
            elif name in COMPILED:
                pairs.append(("G1 -Xcomp", "fields"))
            note(f"  {name} on {version} without")
            start = time.time()
            cpu, _, base = program.run(home, COLLECTORS["G1"], [])
            if not base.stdout.strip():
                print(f"{name:8} {version:3} no output without the agent: {base.stderr.strip()[-400:]}")
                faults += 1
                continue
            print(f"{name:8} {version:3} {'G1':9} {'without':9} {'':5} {cpu:6.1f}", flush=True)
            _, _, again = program.run(home, COLLECTORS["G1"], [])
            if again.stdout != base.stdout or again.returncode != base.returncode:
                print("    its output is not the same in two runs without the agent")
                faults += 1
                continue
            for collector, mode in pairs:
                row = measure(program, home, version, collector, mode, base)
                show(row, {"G1": cpu})
                runs += 1
                faults += bool(row["faults"])
            note(f"  {time.time() - start:.0f} s")
    print(f"{runs} runs, {faults} of them with faults" if faults else f"{runs} runs, all with the same output")
    return 1 if faults else 0

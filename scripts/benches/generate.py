"""Tests from models against tests at random: coverage by JaCoCo and strength by PIT, for the same time; sizes of models."""

import argparse
import json
import subprocess
import time

from .common import HINDSIGHT, ROOT, agent_option, build, chosen, fresh, jars, javac, jdks, note
from .mutability import SUBJECTS as LIBRARIES, loads

# The classes to record; and those that PIT mutates, if all would take it hours.
SUBJECTS = {
    "jsoup": ("org.jsoup.**", "org.jsoup.nodes.*"),
    "h2": ("org.h2.**", "org.h2.value.*"),
    "sat4j": ("org.sat4j.**", "org.sat4j.core.*"),
    "htmlparser": ("org.htmlparser.**", "org.htmlparser.*"),
    "ecj": ("org.eclipse.jdt.**", "org.eclipse.jdt.internal.compiler.util.*"),
}
# The subjects that a program of ours uses; the others have a main method.
PROGRAMS = {"jsoup": "UseJsoup", "h2": "UseH2", "sat4j": "UseSat4j"}
PIT = ["org.pitest:pitest-command-line:1.17.4", "org.pitest:pitest-entry:1.17.4", "org.pitest:pitest:1.17.4",
       "org.pitest:pitest-junit5-plugin:1.2.1", "org.apache.commons:commons-text:1.10.0",
       "org.apache.commons:commons-lang3:3.12.0"]
JUNIT = "org.junit.platform:junit-platform-console-standalone:1.11.4"
JACOCO = ["org.jacoco:org.jacoco.core:0.8.14", "org.ow2.asm:asm:9.9", "org.ow2.asm:asm-commons:9.9",
          "org.ow2.asm:asm-tree:9.9"]


def hindsight(*arguments, check=True):
    done = subprocess.run([HINDSIGHT, *map(str, arguments)], capture_output=True, text=True)
    # Status 1 also means that some tests differ. The result that was asked for is in the output.
    if done.returncode and (check or not done.stdout):
        raise RuntimeError(done.stderr)
    return done


def coverage(home, work, classpath, tests, classes):
    """Classes, lines and branches that JUnit reaches; the failures."""
    junit, = jars([JUNIT])
    agent, = jars(["org.jacoco:org.jacoco.agent:0.8.14:runtime"])
    jar = ":".join(classpath)
    data = work / f"{tests.name}.exec"
    run = subprocess.run(
        [home / "bin/java", f"-javaagent:{agent}=destfile={data}", "-jar", junit, "execute",
         "-cp", f"{classes}:{jar}", "--scan-classpath", classes],
        capture_output=True, text=True, cwd=work)
    failed = [line for line in run.stdout.splitlines() if "tests failed" in line]
    failed = int(failed[0].split()[1]) if failed else -1
    core = jars(JACOCO)
    tool = javac(home, work / "coverage", [ROOT / "test-programs/bench/Coverage.java"], core)
    told = subprocess.run([home / "bin/java", "-cp", ":".join([str(tool), *core]), "Coverage", data, *classpath],
                          check=True, capture_output=True, text=True).stdout
    return [int(number) for number in told.split()], failed


def strength(home, work, classpath, tests, classes, mutated):
    """Of the changes that PIT makes to some classes: how many there are, and how many the tests notice."""
    junit, = jars([JUNIT])
    report = work / f"{tests.name}-pit"
    done = subprocess.run(
        [home / "bin/java", "-cp", ":".join([*jars(PIT), junit]),
         "org.pitest.mutationtest.commandline.MutationCoverageReport", "--reportDir", report, "--targetClasses", mutated,
         "--targetTests", "*Test*", "--sourceDirs", work, "--outputFormats", "CSV", "--threads", "2",
         "--timestampedReports=false", "--classPath", ",".join([str(classes), *classpath, junit]),
         "--mutableCodePaths", ",".join(classpath), "--timeoutConst", "2000", "--failWhenNoMutations=false"],
        capture_output=True, text=True, cwd=work)
    rows = report / "mutations.csv"
    if done.returncode or not rows.exists():
        raise RuntimeError(f"PIT: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    verdicts = [row.split(",")[5] for row in rows.read_text().splitlines()]
    return len(verdicts), sum(verdict in ("KILLED", "TIMED_OUT", "MEMORY_ERROR", "RUN_ERROR") for verdict in verdicts)


def record(name, home, work, classpath, include):
    """A run of the subject, recorded."""
    arguments, options = [], []
    if name in PROGRAMS:
        program = ROOT / f"test-programs/bench/{PROGRAMS[name]}.java"
        classpath = [*classpath, javac(home, work / "program", [program], classpath)]
        arguments = [PROGRAMS[name]]
    else:
        _, arguments = loads(work)[name]
    done = subprocess.run(
        [home / "bin/java", agent_option(out=work / "run", mode="trace", include=include), *options,
         "-cp", ":".join(map(str, classpath)), *arguments], capture_output=True, text=True, cwd=work)
    if not (work / "run/trace").is_dir():
        raise RuntimeError(f"{name}: {done.stderr}")


def subject(name, home, options):
    include, mutated = SUBJECTS[name]
    work = fresh(f"generate-{name}")
    classpath = jars(LIBRARIES[name])
    jar = ":".join(classpath)
    record(name, home, work, classpath, include)
    mutability = work / "mutability.json"
    mutability.write_text(hindsight("mutability", "--classpath", jar, "--format", "json", "--quiet").stdout)
    events = json.loads(hindsight("stats", work / "run", "--format", "json", "--quiet").stdout)["events"]
    began = time.monotonic()
    hindsight("model", work / "run", "--out", work / "plain.model", "--quiet")
    took = time.monotonic() - began
    sizes = hindsight("model", work / "run", "--mutability", mutability, "--out", work / "use.model").stderr
    print(f"{name}: {events} events, model in {took:.2f} s")
    for line in sizes.splitlines():
        print(f"  {line.removeprefix('hindsight: ')}")
    common = ["--classpath", jar, "--mutability", mutability, "--model", work / "use.model", "--seed", options.seed,
              "--format", "json"]
    sides = {
        "universal": ["--universal", "--time", options.time],
        "model": ["--time", options.time],
        "observed": ["--observed", "--trace", work / "run", "--sequences", 1],
    }
    junit, = jars([JUNIT])
    for side, how in sides.items():
        tests = work / side
        report = json.loads(hindsight("generate", *common, *how, "--out", tests, check=False).stdout)
        sources = sorted((tests / "src/test/java").rglob("*.java"))
        if not sources:
            print(f"  {side:>10}: no tests; dropped {sum(report['dropped'].values())}", flush=True)
            continue
        classes = javac(home, work / f"{side}-classes", sources, [*classpath, junit])
        (reached, all_classes, lines, all_lines, branches, all_branches), failed = coverage(
            home, work, classpath, tests, classes)
        searched = report["searched"] or {}
        executed = sum(searched[phase]["executed"] for phase in ("at_random", "along_models")) if searched else 0
        text = (f"  {side:>10}: {report['tests']} tests ({failed} fail), {executed} sequences, classes {reached}/{all_classes}, "
                f"lines {100 * lines / all_lines:.1f} %, branches {100 * branches / all_branches:.1f} %; "
                f"dropped {sum(report['dropped'].values())}")
        if name in options.pit:
            note(f"  {name} {side}: PIT")
            changes, noticed = strength(home, work, classpath, tests, classes, mutated)
            text += f"; PIT: {noticed} of {changes} changes in {mutated} noticed, {100 * noticed / max(changes, 1):.1f} %"
        print(text, flush=True)


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench generate")
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--time", type=int, default=40, help="seconds of search for each side")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jdk", type=int, default=None)
    parser.add_argument("--pit", nargs="*", choices=SUBJECTS, default=["jsoup", "sat4j"],
                        help="subjects whose tests PIT tries on changed classes")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    options = parser.parse_args(rest)
    unknown = [name for name in options.subjects if name not in SUBJECTS]
    if unknown:
        parser.error(f"there is no subject {unknown[0]}; there are {', '.join(SUBJECTS)}")
    if not options.no_build:
        build()
    _, home = min(chosen(jdks(), options.jdk).items())
    for name in options.subjects or SUBJECTS:
        subject(name, home, options)

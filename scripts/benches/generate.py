"""Tests from models against tests at random: coverage by JaCoCo, for the same time; sizes of models."""

import argparse
import json
import subprocess
import time

from .common import HINDSIGHT, ROOT, agent_option, build, fresh, jars, javac, jdks

# Name: the jar, the program that uses it, what to record.
SUBJECTS = {
    "jsoup": ("org.jsoup:jsoup:1.11.1", "UseJsoup", "org.jsoup.**"),
    "h2": ("com.h2database:h2:2.2.224", "UseH2", "org.h2.**"),
}
JUNIT = "org.junit.platform:junit-platform-console-standalone:1.11.4"
JACOCO = ["org.jacoco:org.jacoco.core:0.8.14", "org.ow2.asm:asm:9.9", "org.ow2.asm:asm-commons:9.9",
          "org.ow2.asm:asm-tree:9.9"]


def hindsight(*arguments, check=True):
    done = subprocess.run([HINDSIGHT, *map(str, arguments)], capture_output=True, text=True)
    # 1 is also: some tests differ. What was asked for is in the output.
    if done.returncode and (check or not done.stdout):
        raise RuntimeError(done.stderr)
    return done


def coverage(home, work, jar, tests):
    """Classes, lines and branches that JUnit reaches; the failures."""
    junit, = jars([JUNIT])
    agent, = jars(["org.jacoco:org.jacoco.agent:0.8.14:runtime"])
    sources = sorted((tests / "src/test/java").rglob("*.java"))
    classes = javac(home, work / f"{tests.name}-classes", sources, [jar, junit])
    data = work / f"{tests.name}.exec"
    run = subprocess.run(
        [home / "bin/java", f"-javaagent:{agent}=destfile={data}", "-jar", junit, "execute",
         "-cp", f"{classes}:{jar}", "--scan-classpath", classes],
        capture_output=True, text=True, cwd=work)
    failed = [line for line in run.stdout.splitlines() if "tests failed" in line]
    failed = int(failed[0].split()[1]) if failed else -1
    core = jars(JACOCO)
    tool = javac(home, work / "coverage", [ROOT / "test-programs/bench/Coverage.java"], core)
    told = subprocess.run([home / "bin/java", "-cp", ":".join([str(tool), *core]), "Coverage", data, jar],
                          check=True, capture_output=True, text=True).stdout
    return [int(number) for number in told.split()], failed


def subject(name, home, seconds, seed):
    coordinates, main_class, include = SUBJECTS[name]
    work = fresh(f"generate-{name}")
    jar, = jars([coordinates])
    classes = javac(home, work / "classes", [ROOT / f"test-programs/bench/{main_class}.java"], [jar])
    subprocess.run(
        [home / "bin/java", agent_option(out=work / "run", mode="trace", include=include),
         "-cp", f"{classes}:{jar}", main_class], check=True, capture_output=True)
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
    common = ["--classpath", jar, "--mutability", mutability, "--model", work / "use.model", "--seed", seed,
              "--format", "json"]
    sides = {
        "universal": ["--universal", "--time", seconds],
        "model": ["--time", seconds],
        "observed": ["--observed", "--trace", work / "run", "--sequences", 1],
    }
    for side, options in sides.items():
        tests = work / side
        report = json.loads(hindsight("generate", *common, *options, "--out", tests, check=False).stdout)
        (reached, all_classes, lines, all_lines, branches, all_branches), failed = coverage(
            home, work, jar, tests)
        searched = report["searched"] or {}
        executed = sum(searched[phase]["executed"] for phase in ("at_random", "along_models"))
        print(f"  {side:>10}: {report['tests']} tests ({failed} fail), {executed} sequences, classes {reached}/{all_classes}, "
             f"lines {100 * lines / all_lines:.1f} %, branches {100 * branches / all_branches:.1f} %; "
             f"dropped {sum(report['dropped'].values())}", flush=True)


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench generate")
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--time", type=int, default=40, help="seconds of search for each side")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jdk", type=int, default=None)
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    options = parser.parse_args(rest)
    unknown = [name for name in options.subjects if name not in SUBJECTS]
    if unknown:
        parser.error(f"there is no subject {unknown[0]}; there are {', '.join(SUBJECTS)}")
    if not options.no_build:
        build()
    homes = jdks()
    home = homes[options.jdk or min(homes)]
    for name in options.subjects or SUBJECTS:
        subject(name, home, options.time, options.seed)

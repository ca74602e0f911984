"""Crashes of released programs, recorded, turned into tests, and tried on the fixed release."""

import argparse
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from .common import HINDSIGHT, ROOT, agent_option, build, chosen, fresh, jars, javac, jdks, note

CASES = ROOT / "test-programs" / "crashes"
CONSOLE = "org.junit.platform:junit-platform-console-standalone:1.11.4"


def properties(path):
    """A case.properties file."""
    pairs = {}
    for line in path.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            pairs[key.strip()] = value.strip()
    return pairs


def glob_to_regex(glob):
    """A glob of class names as a regular expression."""
    parts = re.split(r"(\*\*|\*)", glob)
    return "".join({"**": ".*", "*": "[^.]*"}.get(part) or re.escape(part) for part in parts)


def words(text, folder):
    """The arguments in a property of a case, whose folder may have blanks in its path."""
    return [word.replace("@CASE@", str(folder)) for word in text.split()]


def record(case, spec, home, work, copy=None):
    """Runs the driver under the agent; the crash files and the class path."""
    folder = CASES / case
    paths = jars(spec["jars"].split())
    options = words(spec.get("javac", ""), folder)
    classes = javac(home, work / "classes", [folder / "Driver.java"], paths, options)
    classpath = [str(classes), *paths]
    out = work / "out"
    agent = {"out": out, "report": spec["report"]}
    if copy:
        agent["copy"] = copy
    if spec.get("include"):
        agent["include"] = f"{spec['include']};crashes.**"
    arguments = words(spec["args"], folder)
    done = subprocess.run(
        [home / "bin/java", agent_option(**agent), *spec.get("jvm", "").split(),
         "-cp", ":".join(classpath), spec["main"], *arguments],
        capture_output=True, text=True, timeout=300)
    return sorted(out.glob("crash-*.hsc")), classpath, done


def without(source, lines):
    """A test class without the tests, or imports, that these lines (from 1) belong to."""
    text = source.read_text().splitlines(keepends=True)
    doomed, first = set(), None
    for number, line in enumerate(text, 1):
        # A test consists of its comments, its annotation and its body, between blank lines.
        if line.startswith("    //") or line.startswith("    @Test"):
            first = first or number
        if line.rstrip() == "    }" and first:
            if any(first <= bad <= number for bad in lines):
                doomed.update(range(first, number + 1))
            first = None
        if line.startswith("import ") and number in lines:
            doomed.add(number)
    if not doomed:
        return False
    source.write_text("".join(line for number, line in enumerate(text, 1) if number not in doomed))
    return True


def compile_tests(home, out, sources, classpath):
    """Compiles emitted tests, leaving out those that do not compile, as a user would who looks at
    each: a fix may well have removed a method that a test calls."""
    for _ in range(20):
        try:
            return javac(home, out, sources, classpath, ["-proc:none", "-Xmaxerrs", "10000"])
        except RuntimeError as error:
            lines = {}
            for path, line in re.findall(r"^(\S+\.java):(\d+): error:", str(error), re.MULTILINE):
                lines.setdefault(path, set()).add(int(line))
            # This is not any(...), because every source must be examined.
            changed = [without(source, lines.get(str(source), set())) for source in sources]
            if not any(changed):
                raise
    raise RuntimeError("the tests do not compile, whatever is left out")


def fixed_results(case, spec, homes, home, tests, work):
    """Names of the emitted tests that pass on the fixed release."""
    folder = CASES / case
    if spec["fixed"]:
        paths = jars(spec["fixed"].split())
    elif (fixed := spec.get("fixed-jdk", "").split()) and int(fixed[0]) in homes:
        paths, home = [], homes[int(fixed[0])]
    else:
        return None
    options = words(spec.get("javac", ""), folder)
    classes = javac(home, work / "fixed-classes", [folder / "Driver.java"], paths, options)
    console = jars([CONSOLE])
    # Tests that need no stored state come without a library.
    lib = map(str, tests.glob("lib/**/*.jar"))
    classpath = [str(classes), *paths, *console, *lib, str(tests / "src/test/resources")]
    sources = list((tests / "src/test/java").rglob("*.java"))
    compiled = compile_tests(home, work / "fixed-tests", sources, classpath)
    reports = work / "reports"
    subprocess.run(
        [home / "bin/java", *spec.get("jvm", "").split(), "-cp", ":".join([str(compiled), *classpath]),
         "org.junit.platform.console.ConsoleLauncher", "execute", "--scan-classpath", str(compiled),
         "--include-classname", ".*", "--details=none", "--disable-banner", "--reports-dir", str(reports)],
        capture_output=True, text=True, timeout=600)
    green = set()
    for report in reports.glob("TEST-*jupiter*.xml"):
        for test in ElementTree.parse(report).iter("testcase"):
            if test.find("failure") is None and test.find("error") is None and test.find("skipped") is None:
                green.add((test.get("classname"), test.get("name").split("(")[0]))
    return green


def measure(case, homes, version, copy=None):
    """One case on one JDK, recorded with a copy strategy (the agent's own choice by default), as a row."""
    spec = properties(CASES / case / "case.properties")
    home = homes[version]
    work = fresh(f"reproduce/{case}-{version}")
    row = {"case": case, "exception": spec["exception"].rsplit(".", 1)[-1], "frames": 0, "captured": 0,
           "reproduce": 0, "highest": "-", "useful": "-", "kB": 0, "reason": ""}
    crashes, classpath, done = record(case, spec, home, work, copy)
    if not crashes:
        row["reason"] = "no crash file: " + (done.stderr.strip().splitlines() or ["?"])[-1][:90]
        return row
    crash = crashes[0]
    row["kB"] = round(crash.stat().st_size / 1024)
    tests = work / "tests"
    options = [f"--java-option={option}" for option in spec.get("jvm", "").split()]
    emitted = subprocess.run(
        [HINDSIGHT, "junit", crash, "--classpath", ":".join(classpath), "--out", tests, "--jdk", home,
         "--format", "json", *options],
        capture_output=True, text=True, timeout=1800)
    try:
        report = json.loads(emitted.stdout)["crashes"][0]
    except (ValueError, LookupError):
        row["reason"] = "junit: " + (emitted.stderr.strip().splitlines() or ["no output"])[-1][:90]
        return row
    if report["exception"] != spec["exception"]:
        row["reason"] = f"another exception: {report['exception']}"
        return row
    frames = report["frames"]
    library = re.compile(glob_to_regex(spec["library"]))
    row["frames"] = len([f for f in frames if library.fullmatch(f["class"]) or f["class"].startswith("crashes.")])
    row["captured"] = len([f for f in frames if f.get("descriptor")])
    kept = [f for f in frames if f["verdict"] == "reproduces"]
    row["reproduce"] = len(kept)
    if not kept:
        reasons = [f"{f['method']}: {f['reason']}" for f in frames if f["verdict"] not in ("unsupported",)]
        row["reason"] = (reasons or ["no candidate"])[0][:110]
        return row
    row["highest"] = f"{kept[-1]['class'].rsplit('.', 1)[-1]}.{kept[-1]['method']} ({kept[-1]['index']})"
    try:
        green = fixed_results(case, spec, homes, home, tests, work)
    except RuntimeError as error:
        row["useful"] = "?"
        row["reason"] = "tests do not compile with the fixed release: " + str(error).strip().splitlines()[0][:70]
        return row
    if green is None:
        row["reason"] = spec.get("not-useful", "no fixed release to try")
    else:
        names = {name for _, name in green}
        useful = [f for f in kept if f["test"] and re.split(r"[#.]", f["test"])[-1] in names]
        row["useful"] = f"yes, {len(useful)}" if useful else "no"
        if not useful:
            why = spec.get("not-useful")
            row["reason"] = "no test goes green with the fixed release" + (f": {why}" if why else "")
    return row


def show(row):
    """One line of the table."""
    tail = " / ".join(part for part in (row["highest"], row["reason"]) if part and part != "-")
    copy = f"{row['copy']:9} " if row["copy"] else ""
    print(f"{row['case']:20} {row['jdk']:3} {copy}{row['exception']:32} {row['frames']:6} {row['reproduce']:5} "
          f"{row['kB']:5} {row['useful']:8} {tail}", flush=True)


def summary(rows, copy):
    """What the rows of one strategy come to: of crashes, and of tests over all JDKs."""
    crashes = {row["case"] for row in rows}
    any_frame = {row["case"] for row in rows if row["reproduce"]}
    useful = {row["case"] for row in rows if row["useful"].startswith("yes")}
    several = {row["case"] for row in rows if row["frames"] >= 4}
    kinds = {row["exception"] for row in rows}
    tests = sum(row["reproduce"] for row in rows)
    green = sum(int(row["useful"].split(", ")[1]) for row in rows if row["useful"].startswith("yes"))
    size = sum(row["kB"] for row in rows)
    print(f"\n{'copy=' + copy + ': ' if copy else ''}{len(crashes)} crashes of {len(kinds)} exception classes, "
          f"{len(several)} with 4 frames or more: {len(any_frame)} reproduce, {len(useful)} useful; "
          f"{tests} tests reproduce, {green} useful, {size} kB")


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench reproduce")
    parser.add_argument("cases", nargs="*", help="names of folders in test-programs/crashes; all by default")
    parser.add_argument("--jdk", type=int, nargs="*", default=None)
    parser.add_argument("--copy", nargs="*", default=[None], metavar="STRATEGY",
                        help="copy strategies to compare, such as reference fields depth:2 deep")
    parser.add_argument("--keep", action="store_true", help="leave the work under target/bench/reproduce")
    parser.add_argument("--json", default=None, help="also write the rows to this file")
    options = parser.parse_args(rest)
    build()
    homes = jdks()
    chosen(homes, options.jdk)
    cases = options.cases or sorted(path.parent.name for path in CASES.glob("*/case.properties"))
    rows = []
    copies = f"{'copy':9} " if options.copy != [None] else ""
    header = f"{'crash':20} {'JDK':>3} {copies}{'exception':32} {'frames':>6} {'tests':>5} {'kB':>5} {'useful':8} highest that reproduces / reason"
    print(header)
    for case in cases:
        spec = properties(CASES / case / "case.properties")
        wanted = options.jdk or [int(version) for version in spec["jdk"].split()]
        for version in wanted:
            if version not in homes or str(version) not in spec["jdk"].split():
                continue
            for copy in options.copy:
                note(f"  {case} on {version} {copy or ''}")
                try:
                    row = measure(case, homes, version, copy)
                except (subprocess.TimeoutExpired, RuntimeError, OSError) as error:
                    row = {"case": case, "exception": "?", "frames": 0, "captured": 0, "reproduce": 0, "highest": "-",
                           "useful": "-", "kB": 0, "reason": f"failed: {str(error)[:100]}"}
                row["jdk"], row["copy"] = version, copy
                rows.append(row)
                show(row)
    for copy in options.copy:
        summary([row for row in rows if row["copy"] == copy], copy)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    if not options.keep:
        shutil.rmtree(ROOT / "target/bench/reproduce", ignore_errors=True)
    # A crash without frames could not be recorded or read.
    return 0 if rows and all(row["frames"] for row in rows) else 1

"""Which values and tests of real crashes need no stored state.

Every crash of test-programs/crashes is recorded and turned into tests, as `scripts/bench reproduce`
does, once with values built and once with all loaded. A value is a receiver or an argument of the
method that a test calls: a literal says it, calls of constructors and the like build it, or it is
loaded from the crash file.
"""

import argparse
import json
import shutil
import subprocess

from .common import HINDSIGHT, ROOT, build, chosen, fresh, jdks, note
from .reproduce import CASES, properties, record


def emit(crash, classpath, home, spec, out, values):
    """The frames of one crash as `hindsight junit` reports them."""
    options = [f"--java-option={option}" for option in spec.get("jvm", "").split()]
    done = subprocess.run(
        [HINDSIGHT, "junit", crash, "--classpath", ":".join(classpath), "--out", out, "--jdk", home,
         "--values", values, "--format", "json", *options],
        capture_output=True, text=True, timeout=1800)
    try:
        return json.loads(done.stdout)["crashes"][0]["frames"]
    except (ValueError, LookupError):
        raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1][:90]) from None


def counts(frames):
    """What the tests' values take."""
    tests = [frame["values"] for frame in frames if frame["values"]]
    return {
        "tests": len(tests),
        "stateless": sum(not test["state"] for test in tests),
        "bare": sum(not test["library"] for test in tests),
        "literals": sum(test["literals"] for test in tests),
        "built": sum(test["built"] for test in tests),
        "loaded": sum(test["loaded"] for test in tests),
        "objects": sum(test["objects"] for test in tests),
    }


def share(part, whole):
    return f"{part:4} of {whole:4} ({100 * part / max(whole, 1):3.0f} %)"


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench readable", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="names of folders in test-programs/crashes; all by default")
    parser.add_argument("--jdk", type=int, default=None, help="only on this JDK; by default each case's first")
    parser.add_argument("--keep", action="store_true", help="leave the work under target/bench/readable")
    parser.add_argument("--json", default=None, help="also write the rows to this file")
    options = parser.parse_args(rest)
    build()
    homes = jdks()
    chosen(homes, options.jdk)
    rows, failed = [], 0
    print(f"{'crash':20} {'JDK':>3} {'tests':>5} {'no state':>8} {'(loaded)':>8} {'literal':>7} {'built':>5} {'loaded':>6} {'objects':>7}")
    for case in options.cases or sorted(path.parent.name for path in CASES.glob("*/case.properties")):
        spec = properties(CASES / case / "case.properties")
        wanted = [int(version) for version in spec["jdk"].split() if int(version) in homes]
        if options.jdk:
            wanted = [version for version in wanted if version == options.jdk]
        if not wanted:
            continue
        version = wanted[0]
        note(f"  {case} on {version}")
        work = fresh(f"readable/{case}-{version}")
        try:
            crashes, classpath, done = record(case, spec, homes[version], work)
            if not crashes:
                raise RuntimeError("no crash file")
            built = counts(emit(crashes[0], classpath, homes[version], spec, work / "built", "built"))
            loaded = counts(emit(crashes[0], classpath, homes[version], spec, work / "loaded", "loaded"))
        except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
            print(f"{case:20} {version:3} failed: {str(error)[:100]}", flush=True)
            failed += 1
            continue
        rows.append({"case": case, "jdk": version, **built, "loaded_tests": loaded["tests"],
                     "loaded_stateless": loaded["stateless"]})
        print(f"{case:20} {version:3} {built['tests']:5} {built['stateless']:8} {loaded['stateless']:8} "
              f"{built['literals']:7} {built['built']:5} {built['loaded']:6} {built['objects']:7}", flush=True)
    total = {key: sum(row[key] for row in rows) for key in rows[0] if key not in ("case", "jdk")} if rows else {}
    if rows:
        values = total["literals"] + total["built"] + total["loaded"]
        print(f"\n{len(rows)} crashes, {total['tests']} tests that reproduce ({total['loaded_tests']} with all values loaded)")
        print(f"tests without stored state: {share(total['stateless'], total['tests'])}; "
              f"with all values loaded {share(total['loaded_stateless'], total['loaded_tests'])}")
        print(f"tests without the replay library too: {share(total['bare'], total['tests'])}")
        print(f"values without stored state: {share(total['literals'] + total['built'], values)}: "
              f"{total['literals']} literals, {total['built']} built of {total['objects']} objects")
        some = sum(row["stateless"] > 0 for row in rows)
        every = sum(row["stateless"] == row["tests"] for row in rows)
        print(f"crashes with such a test: {some}; with such tests only: {every}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    if not options.keep:
        shutil.rmtree(ROOT / "target/bench/readable", ignore_errors=True)
    return 0 if rows and not failed else 1

"""Which parameters may change: verdicts, time and memory by subject and pipeline; what recorded runs
say of them; a hundred thousand methods; WALA's call graph beside it."""

import argparse
import csv
import json
import os
import random
import subprocess
import tempfile

from .common import AGENT, HINDSIGHT, ROOT, build, fresh, jars, javac, jdks, note

SUBJECTS = {
    "ecj": ["org.eclipse.jdt:ecj:3.37.0"],
    "h2": ["com.h2database:h2:2.2.224"],
    "sat4j": ["org.ow2.sat4j:org.ow2.sat4j.core:2.3.6"],
    "htmlparser": ["org.htmlparser:htmlparser:2.1", "org.htmlparser:htmllexer:2.1"],
    "commons-lang3": ["org.apache.commons:commons-lang3:3.8"],
    "jsoup": ["org.jsoup:jsoup:1.14.2"],
    "snakeyaml": ["org.yaml:snakeyaml:2.0"],
}
# javac as a jar, under a name of its own.
COMPILER = ["org.frgaal:compiler:24.0.0"]
# Programs with more than 100,000 methods together.
LARGE = [
    "org.eclipse.jdt:ecj:3.37.0", "com.h2database:h2:2.2.224",
    "org.jetbrains.kotlin:kotlin-compiler-embeddable:2.1.20", "org.scala-lang:scala-compiler:2.13.16",
    "org.scala-lang:scala-library:2.13.16", "org.scala-lang:scala-reflect:2.13.16",
    "com.google.javascript:closure-compiler:v20240317",
]
WALA = [
    "com.ibm.wala:com.ibm.wala.core:1.6.7", "com.ibm.wala:com.ibm.wala.shrike:1.6.7",
    "com.ibm.wala:com.ibm.wala.util:1.6.7", "com.google.code.gson:gson:2.11.0",
]
PIPELINES = ["S", "S-P", "SH-P", "S'-P"]
UNPROVED = ["SH-P"]
TRACED = "trace-what=calls;writes;reads;values"


def run(home, classpath, cache, options=()):
    """Rows of all parameters, CPU seconds, megabytes, and what was said on stderr."""
    command = [HINDSIGHT, "mutability", "--classpath", ":".join(classpath), "--jdk", home, "--format", "csv",
               "--quiet", *options]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(list(map(str, command)), stdout=out, stderr=err,
                                 env={**os.environ, "XDG_CACHE_HOME": cache})
        _, status, usage = os.wait4(child.pid, 0)
        out.seek(0)
        err.seek(0)
        rows, said = list(csv.DictReader(out)), err.read()
    if status and "disproved" not in said:
        raise RuntimeError(f"{command}: {said}")
    return rows, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, said


def counts(rows):
    """Parameters that can change, by verdict."""
    rows = [row for row in rows if not row["reason"].startswith("numbers, strings, boxes")]
    return len(rows), *(sum(row["verdict"] == verdict for row in rows) for verdict in ("immutable", "mutable", "unknown"))


def pipelines(options, home, cache):
    _, first, memory, _ = run(home, jars(SUBJECTS["jsoup"]), cache, ["--pipeline", "S"])
    _, again, _, _ = run(home, jars(SUBJECTS["jsoup"]), cache, ["--pipeline", "S"])
    print(f"the JDK's own parameters, once: {first - again:.1f} s of CPU, {memory:.0f} MB")
    print(f"{'subject':14} {'pipeline':12} {'parameters':>10} {'nontrivial':>10} {'immutable':>9} {'mutable':>8} "
          f"{'unknown':>8} {'CPU s':>6} {'MB':>5}")
    for subject in options.subject:
        classpath = jars(SUBJECTS[subject])
        for pipeline in options.pipeline:
            for sound in ([], ["--sound"]):
                if sound and pipeline in UNPROVED:
                    continue
                results = [run(home, classpath, cache, ["--pipeline", pipeline, *sound]) for _ in range(options.runs)]
                rows, seconds, memory, _ = min(results, key=lambda result: result[1])
                nontrivial, immutable, mutable, unknown = counts(rows)
                print(f"{subject:14} {pipeline + (' sound' if sound else ''):12} {len(rows):10,} {nontrivial:10,} "
                      f"{immutable:9,} {mutable:8,} {unknown:8,} {seconds:6.2f} {memory:5.0f}", flush=True)


def large(options, home, cache):
    """Time must follow size: each jar more costs what it has."""
    print(f"{'methods':>9} {'pipeline':12} {'CPU s':>6} {'MB':>6} {'us a method':>12}")
    every = jars(LARGE)
    for pipeline in ("S-P", "S'-P"):
        for end in (1, 2, 3, len(every)):
            best = None
            for _ in range(options.runs):
                rows, seconds, memory, _ = run(home, every[:end], cache, ["--pipeline", pipeline])
                methods = len({(row["class"], row["method"], row["descriptor"]) for row in rows})
                if best is None or seconds < best[1]:
                    best = methods, seconds, memory
            methods, seconds, memory = best
            print(f"{methods:9,} {pipeline:12} {seconds:6.2f} {memory:6.0f} {seconds / methods * 1e6:12.0f}", flush=True)


def loads(work):
    """Programs to record: class path, arguments of java."""
    chance = random.Random(1)
    formula = work / "formula.cnf"
    clauses = [" ".join(str(chance.choice([-1, 1]) * v) for v in chance.sample(range(1, 41), 3)) + " 0" for _ in range(150)]
    formula.write_text("p cnf 40 150\n" + "\n".join(clauses) + "\n")
    page = work / "page.html"
    page.write_text("<html><body>" + "".join(
        f'<p class="c{i}">text {i} <a href="u{i}">link</a><table><tr><td>{i}</td></tr></table></p><!-- c -->'
        for i in range(60)) + "</body></html>")
    script = work / "script.sql"
    script.write_text(
        "create table t(id int primary key, name varchar(40), v int); create index tv on t(v);\n"
        + "".join(f"insert into t values({i},'name{i}',{i % 7});\n" for i in range(60))
        + "select v, count(*), max(name) from t where id > 5 group by v order by v;"
          "update t set v = v + 1 where id < 20; delete from t where id = 3;"
          "select a.id, b.name from t a join t b on a.v = b.id where b.name like 'name1%';\n")
    sources = [str(ROOT / "test-programs/mutability" / name) for name in ("Basics.java", "Objects.java", "Figure51.java")]
    compiled = ["-17", "-nowarn", "-d", str(work / "ecj"), *sources]
    return {
        "ecj": (SUBJECTS["ecj"], ["org.eclipse.jdt.internal.compiler.batch.Main", *compiled]),
        # The JDK's own javac is excluded by limiting the modules.
        "javac": (COMPILER, ["--limit-modules", "java.base,java.logging,java.xml,jdk.zipfs", "org.frgaal.Main",
                             "-proc:none", "-d", str(work / "javac"), *sources]),
        "h2": (SUBJECTS["h2"], ["org.h2.tools.RunScript", "-url", "jdbc:h2:mem:x", "-script", str(script)]),
        "sat4j": (SUBJECTS["sat4j"], ["org.sat4j.BasicLauncher", str(formula)]),
        "htmlparser": (SUBJECTS["htmlparser"], ["org.htmlparser.Parser", str(page)]),
    }


def runs(options, home, cache):
    """What is proved to be immutable no run changes."""
    print(f"{'recorded':12} {'methods run':>11} {'X':>6} {'D':>6} {'proved':>7} {'disproved':>9} {'CPU s':>6} {'MB':>5}")
    work = fresh("mutability")
    wrong = 0
    for name, (coordinates, arguments) in loads(work).items():
        classpath, out = jars(coordinates), work / f"run-{name}"
        java = [home / "bin/java", f"-agentpath:{AGENT}=mode=trace,{TRACED},out={out}", "-cp", ":".join(classpath)]
        if arguments[0] == "--limit-modules":
            java, arguments = java + arguments[:2], arguments[2:]
        done = subprocess.run([*map(str, java), *arguments], capture_output=True, text=True, cwd=work)
        if not (out / "trace").is_dir():
            raise RuntimeError(f"{name}: {done.stderr}")
        saved = work / f"{name}.json"
        rows, seconds, memory, said = run(home, classpath, cache, ["--sound", "--trace", out, "--save-evidence", saved])
        disproved = said.count("was proved to be immutable, but")
        wrong += disproved
        for line in said.splitlines():
            note("  " + line)
        methods = [method for entry in json.loads(saved.read_text())["classes"] for method in entry["methods"]]
        seen = lambda kind: sum(p[kind] is not None for method in methods for p in method["parameters"])
        _, immutable, _, _ = counts(rows)
        print(f"{name:12} {len(methods):11,} {seen('exact'):6,} {seen('reached'):6,} {immutable:7,} {disproved:9,} "
              f"{seconds:6.2f} {memory:5.0f}", flush=True)
    print(f"proved to be immutable and seen to be changed, in all: {wrong}")
    return wrong


def peer(options, home, cache):
    """WALA's call graph alone beside all of S-P, in turns."""
    wala = jars(WALA)
    classes = javac(home, fresh("wala"), [ROOT / "test-programs/bench/WalaCalls.java"], wala)
    print(f"{'subject':14} {'WALA, call graph: CPU s':>24} {'S-P, all of it: CPU s':>22} {'times':>6}")
    for subject in ("ecj", "jsoup"):
        classpath, theirs, ours = jars(SUBJECTS[subject]), [], []
        for _ in range(options.runs):
            command = [home / "bin/java", "-Xmx3g", "-cp", ":".join([str(classes), *wala]), "WalaCalls",
                       ":".join(classpath), 1]
            child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            if status:
                raise RuntimeError("WALA fails")
            theirs.append(usage.ru_utime + usage.ru_stime)
            ours.append(run(home, classpath, cache, ["--pipeline", "S-P"])[1])
        print(f"{subject:14} {min(theirs):24.2f} {min(ours):22.2f} {min(theirs) / min(ours):6.1f}", flush=True)


def main(rest):
    parts = {"pipelines": pipelines, "runs": runs, "large": large, "peer": peer}
    parser = argparse.ArgumentParser(prog="scripts/bench mutability")
    parser.add_argument("--runs", type=int, default=3, help="runs of each kind; the fastest counts")
    parser.add_argument("--part", nargs="*", choices=parts, default=list(parts))
    parser.add_argument("--subject", nargs="*", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--pipeline", nargs="*", default=PIPELINES)
    options = parser.parse_args(rest)
    build()
    home = jdks()[17] if 17 in jdks() else next(iter(jdks().values()))
    status = 0
    with tempfile.TemporaryDirectory() as cache:
        for part in options.part:
            status |= bool(parts[part](options, home, cache))
    return status

"""Reading and rewriting classes: CPU time and allocations, beside ASM doing the same."""

import argparse
import json
import statistics
import subprocess

from .common import ROOT, WORK, fresh, jars, javac, jdks, note, spread

ASM = "org.ow2.asm:asm:9.9"
# What ASM does too, and which of our jobs does the same.
ASM_JOBS = {"fields": "crash-fields", "trace": "trace"}
# What the first classes of a fresh process are: where a JVM has compiled little yet.
FIRST = 1000


def packed(home, version):
    """All classes of a JDK in one file, each behind its length; how many, and the bytes of the first and of all."""
    WORK.mkdir(parents=True, exist_ok=True)
    modules = WORK / f"modules-{version}"
    if not modules.is_dir():
        subprocess.run([home / "bin/jimage", "extract", "--dir", modules, home / "lib/modules"], check=True)
    pack = WORK / f"classes-{version}.pack"
    lengths = []
    with pack.open("wb") as out:
        for path in sorted(modules.rglob("*.class")):
            data = path.read_bytes()
            out.write(len(data).to_bytes(4, "big") + data)
            lengths.append(len(data))
    return pack, len(lengths), sum(lengths[:FIRST]), sum(lengths)


def built():
    """The measuring program, built as the agent is."""
    done = subprocess.run(
        ["cargo", "build", "--release", "--locked", "--quiet", "-p", "hindsight-instrument", "--bench", "rewrite",
         "--message-format=json"],
        cwd=ROOT, check=True, capture_output=True, text=True)
    messages = map(json.loads, done.stdout.splitlines())
    return next(m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "rewrite")


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench rewrite")
    parser.add_argument("--runs", type=int, default=3, help="processes of each kind")
    parser.add_argument("--rounds", type=int, default=5, help="rounds over all classes in one process")
    parser.add_argument("--asm-rounds", type=int, default=12, help="the same for ASM; the last third counts as warm")
    parser.add_argument("--jdk", type=int, nargs="*", default=None)
    options = parser.parse_args(rest)
    program = built()
    for version, home in jdks().items():
        if options.jdk and version not in options.jdk:
            continue
        pack, classes, first_bytes, all_bytes = packed(home, version)
        asm = jars([ASM])
        sources = [ROOT / "test-programs/bench" / name for name in ("AsmRewrite.java", "AsmTrace.java")]
        java = javac(home, fresh(f"rewrite-{version}"), sources, asm)
        # By job: MB/s of the first classes in a fresh process, of all in every round, and the rest of the last line.
        ours = {}
        # The same by job of ours, of ASM: of the first classes, of all when it is warm, and methods.
        asms = {job: {"cold": [], "warm": [], "methods": 0} for job in ASM_JOBS.values()}
        for run in range(options.runs):
            done = subprocess.run([program, pack, str(options.rounds), str(FIRST)], check=True, capture_output=True, text=True)
            for at, line in enumerate(done.stdout.splitlines()):
                name, *figures = line.split()
                first, nanos, size, written, methods, count, allocated = map(int, figures)
                assert size == all_bytes
                job = ours.setdefault(name, {"first": [], "all": []})
                if len(job["all"]) == run * options.rounds:
                    job["first"].append(first_bytes * 1e3 / first)
                job["all"].append(size * 1e3 / nanos)
                job["rest"] = (methods, written, count * 1e3 / size, allocated / size)
            # One thread's garbage is collected outside of that thread's time, which is in ASM's favour.
            for asm_job, job in ASM_JOBS.items():
                done = subprocess.run(
                    [home / "bin/java", "-XX:+UseSerialGC", "-Xms1g", "-cp", ":".join([str(java), *asm]), "AsmRewrite",
                     pack, str(options.asm_rounds), str(FIRST), asm_job],
                    check=True, capture_output=True, text=True)
                lines = [list(map(int, line.split())) for line in done.stdout.splitlines()]
                asms[job]["cold"].append(first_bytes * 1e3 / lines[0][0])
                asms[job]["warm"] += [all_bytes * 1e3 / line[1] for line in lines[-(options.asm_rounds // 3):]]
                asms[job]["methods"] = lines[0][4]
                note(f"  JDK {version} run {run + 1}: ASM, {asm_job} {[round(all_bytes * 1e3 / line[1]) for line in lines]} MB/s")
        print(f"JDK {version}: {classes:,} classes, {all_bytes / 1e6:.1f} MB; MB/s of one thread's CPU time, {options.runs} processes of each kind")
        print(f"  {'':16} {'all classes':>28} {f'first {FIRST:,} in a process':>28}  {'x ASM warm':>10} {'x ASM cold':>10}  {'methods':>8}  {'allocations/kB':>14} {'bytes/byte':>10}")
        for name, job in ours.items():
            methods, _, count, allocated = job["rest"]
            median, first = statistics.median(job["all"]), statistics.median(job["first"])
            of_asm = asms.get(name)
            against = f"{'':21}"
            if of_asm:
                against = f"{median / statistics.median(of_asm['warm']):10.1f} {first / statistics.median(of_asm['cold']):10.1f}"
            print(f"  {name:16} {spread(job['all']):>28} {spread(job['first']):>28}  {against}  {methods:8}  {count:14.2f} {allocated:10.2f}")
        for asm_job, job in ASM_JOBS.items():
            of_asm = asms[job]
            print(f"  {'ASM, ' + asm_job:16} {spread(of_asm['warm']):>28} {spread(of_asm['cold']):>28}  {'':21}  {of_asm['methods']:8}")
    return 0

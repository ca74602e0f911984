"""Reading and rewriting classes: CPU time and allocations, beside ASM doing the same."""

import argparse
import json
import statistics
import subprocess

from .common import ROOT, WORK, cargo_build, chosen, fresh, jars, javac, jdks, note, release, spread

ASM = "org.ow2.asm:asm:9.9"
# The jobs that ASM does as well, with the corresponding job of ours.
ASM_JOBS = {"fields": "crash-fields", "trace": "trace"}
JOBS = ["decode", "crash-fields", "crash-reference", "trace"]
# The numbers of first classes in a fresh process: for a JVM that has compiled nothing yet, and one
# that has compiled a little.
FIRST = [100, 1000]


def packed(home, version):
    """All classes of a JDK in one file, each behind its length; how many, the bytes of each of the first ones, and of all."""
    modules = WORK / f"modules-{release(home)}"
    if not modules.is_dir():
        # An interrupted run must not leave a part of them by this name.
        begun = fresh("modules-begun")
        subprocess.run([home / "bin/jimage", "extract", "--dir", begun, home / "lib/modules"], check=True)
        begun.rename(modules)
    pack = WORK / f"classes-{version}.pack"
    lengths = []
    with pack.open("wb") as out:
        for path in sorted(modules.rglob("*.class")):
            data = path.read_bytes()
            out.write(len(data).to_bytes(4, "big") + data)
            lengths.append(len(data))
    return pack, len(lengths), [sum(lengths[:first]) for first in FIRST], sum(lengths)


def built():
    """The measuring program, built as the agent is."""
    printed = cargo_build("-p", "hindsight-instrument", "--bench", "rewrite", "--message-format=json")
    messages = map(json.loads, printed.splitlines())
    return next(m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "rewrite")


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench rewrite")
    parser.add_argument("--runs", type=int, default=3, help="processes of each kind")
    parser.add_argument("--rounds", type=int, default=5, help="rounds over all classes in one process")
    parser.add_argument("--asm-rounds", type=int, default=12, help="the same for ASM; the last third counts as warm")
    parser.add_argument("--jdk", type=int, nargs="*", default=None)
    options = parser.parse_args(rest)
    program = built()
    firsts = ",".join(map(str, FIRST))
    for version, home in chosen(jdks(), options.jdk).items():
        pack, classes, first_bytes, all_bytes = packed(home, version)
        asm = jars([ASM])
        sources = [ROOT / "test-programs/bench" / name for name in ("AsmRewrite.java", "AsmTrace.java")]
        java = javac(home, fresh(f"rewrite-{version}"), sources, asm)

        def speeds(nanos):
            """MB/s of each of the first classes in a process."""
            return [size * 1e3 / took for size, took in zip(first_bytes, nanos)]

        # By job: MB/s of the first classes in a fresh process, of all in every round, and the rest
        # of the last line.
        ours = {}
        # The same figures of ASM, by our job: of the first classes, of all when it is warm, and
        # methods.
        asms = {job: {"cold": [], "warm": [], "methods": 0} for job in ASM_JOBS.values()}
        for run in range(options.runs):
            for wanted in JOBS:
                # Each runs in a process of its own, as ASM's do, so that none profits from
                # another's warm-up.
                done = subprocess.run([program, pack, str(options.rounds), firsts, wanted], check=True, capture_output=True, text=True)
                for at, line in enumerate(done.stdout.splitlines()):
                    name, *figures = line.split()
                    *first, nanos, size, written, methods, count, allocated = map(int, figures)
                    assert name == wanted and size == all_bytes
                    job = ours.setdefault(name, {"cold": [], "all": []})
                    if at == 0:
                        job["cold"].append(speeds(first))
                    job["all"].append(size * 1e3 / nanos)
                    job["rest"] = (methods, written, count * 1e3 / size, allocated / size)
            # Garbage is collected outside of the measured time of the one thread, which favours
            # ASM.
            for asm_job, job in ASM_JOBS.items():
                done = subprocess.run(
                    [home / "bin/java", "-XX:+UseSerialGC", "-Xms1g", "-cp", ":".join([str(java), *asm]), "AsmRewrite",
                     pack, str(options.asm_rounds), firsts, asm_job],
                    check=True, capture_output=True, text=True)
                lines = [list(map(int, line.split())) for line in done.stdout.splitlines()]
                asms[job]["cold"].append(speeds(lines[0]))
                asms[job]["warm"] += [all_bytes * 1e3 / line[len(FIRST)] for line in lines[-(options.asm_rounds // 3):]]
                asms[job]["methods"] = lines[0][-1]
                note(f"  JDK {version} run {run + 1}: ASM, {asm_job} {[round(all_bytes * 1e3 / line[len(FIRST)]) for line in lines]} MB/s")
        print(f"JDK {version}: {classes:,} classes, {all_bytes / 1e6:.1f} MB; MB/s of one thread's CPU time, {options.runs} processes of each kind")
        cold = [f"first {first:,}" for first in FIRST]
        print(f"  {'':16} {'all classes':>22} {cold[0]:>22} {cold[1]:>22}  {'methods':>8}  {'allocations/kB':>14} {'bytes/byte':>10}")

        def columns(job, every):
            return " ".join(f"{spread(each):>22}" for each in (job[every], *zip(*job["cold"])))

        for name, job in ours.items():
            methods, _, count, allocated = job["rest"]
            print(f"  {name:16} {columns(job, 'all')}  {methods:8}  {count:14.2f} {allocated:10.2f}")
        for asm_job, name in ASM_JOBS.items():
            print(f"  {'ASM, ' + asm_job:16} {columns(asms[name], 'warm')}  {asms[name]['methods']:8}")
        for name, of_asm in asms.items():
            warm = statistics.median(ours[name]["all"]) / statistics.median(of_asm["warm"])
            pairs = zip(cold, zip(*ours[name]["cold"]), zip(*of_asm["cold"]))
            colds = "; ".join(f"the {first} in a process {statistics.median(our) / statistics.median(their):.0f}" for first, our, their in pairs)
            print(f"  {name}: ASM's speed times {warm:.1f} when it is warm; {colds}")
    return 0

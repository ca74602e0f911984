"""Which parameters may change: verdicts, time and memory by subject and pipeline."""

import argparse
import json
import os
import subprocess
import tempfile

from .common import HINDSIGHT, build, jars, jdks, note

SUBJECTS = {
    "ecj": ["org.eclipse.jdt:ecj:3.37.0"],
    "commons-lang3": ["org.apache.commons:commons-lang3:3.8"],
    "jsoup": ["org.jsoup:jsoup:1.14.2"],
    "snakeyaml": ["org.yaml:snakeyaml:2.0"],
}
PIPELINES = ["S-P", "SH-P", "S'", "S'-P"]


def run(home, classpath, pipeline, cache, options=()):
    """The document, CPU seconds, wall seconds and megabytes of one run."""
    command = [HINDSIGHT, "mutability", "--classpath", ":".join(classpath), "--jdk", home, "--pipeline", pipeline,
               "--format", "json", "--quiet", *options]
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(list(map(str, command)), stdout=out, env={**os.environ, "XDG_CACHE_HOME": cache})
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise RuntimeError(f"{pipeline} fails on {classpath}")
        out.seek(0)
        document = json.load(out)
    return document, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench mutability")
    parser.add_argument("--runs", type=int, default=3, help="runs of each kind; the fastest counts")
    parser.add_argument("--subject", nargs="*", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--pipeline", nargs="*", default=PIPELINES)
    options = parser.parse_args(rest)
    build()
    home = next(iter(jdks().values()))
    with tempfile.TemporaryDirectory() as cache:
        # The JDK's own methods, once.
        any_jar = jars(SUBJECTS[options.subject[0]])
        _, first, memory = run(home, any_jar, "S", cache)
        _, again, _ = run(home, any_jar, "S", cache)
        print(f"the JDK's own parameters, once: {first - again:.1f} s of CPU, {memory:.0f} MB")
        print(f"{'subject':14} {'pipeline':8} {'parameters':>10} {'nontrivial':>10} {'immutable':>9} {'mutable':>8} "
              f"{'unknown':>8} {'pure':>6} {'CPU s':>6} {'MB':>5}")
        for subject in options.subject:
            classpath = jars(SUBJECTS[subject])
            for pipeline in options.pipeline:
                for sound in ([], ["--sound"]):
                    results = [run(home, classpath, pipeline, cache, sound) for _ in range(options.runs)]
                    document, seconds, memory = min(results, key=lambda result: result[1])
                    every = [p for method in document["methods"] for p in method["parameters"]]
                    nontrivial = [p for p in every if not p["trivial"]]
                    verdicts = {v: sum(p["verdict"] == v for p in nontrivial) for v in ("immutable", "mutable", "unknown")}
                    pure = sum(method["pure"] is True for method in document["methods"])
                    print(f"{subject:14} {pipeline + (' sound' if sound else ''):8} {len(every):10,} {len(nontrivial):10,} "
                          f"{verdicts['immutable']:9,} {verdicts['mutable']:8,} {verdicts['unknown']:8,} {pure:6,} "
                          f"{seconds:6.2f} {memory:5.0f}", flush=True)
                    note(f"  {subject} {pipeline}")
    return 0

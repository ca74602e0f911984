"""Every class there is: read, written, rewritten under every plan, and verified."""

import argparse
import collections
import concurrent.futures
import functools
import hashlib
import json
import subprocess
import time
import zipfile

from .common import ROOT, WORK, cargo_build, jars as listed_jars, jdks, note, release
from .generated import generate

SOURCES = ROOT / "test-programs" / "survive"
CORPUS = ROOT / "test-programs" / "corpus.txt"
TABLE = ROOT / "test-programs" / "SURVIVE.md"
DRIVER = ROOT / "target" / "release" / "survive"
HOME = WORK / "survive"
MARK = "<!-- What follows is written by scripts/bench survive. -->"
# The reasons, size or age, for which methods may stay as they were; those with any other reason are
# counted separately.
SIZE_OR_AGE = {"code of a version before 45.3", "subroutines", "too large", "too many local variables",
               "constant pool full"}
# The JVMs must verify what they load, from whatever loader.
VERIFY = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationLocal", "-XX:+BytecodeVerificationRemote"]
SMALL = ["-Xmx1500m", "-XX:+UseSerialGC"]


def corpus():
    """Coordinates of the jars, by part."""
    parts = collections.OrderedDict()
    for line in CORPUS.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            coordinates, _, part = line.split()
            parts.setdefault(part, []).append(coordinates)
    return parts


def fetch(coordinates):
    """Paths of jars of the corpus."""
    return listed_jars(coordinates, "corpus.txt")


def run(command, **options):
    """Runs a command that must succeed; what it printed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))[:300]}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def compile_java(homes):
    """Compiles the programs that verify; their directories by JDK."""
    made = {version: HOME / f"classes-{version}" for version in homes}
    stamp = HOME / "compiled"
    changed = max(path.stat().st_mtime for path in SOURCES.iterdir())
    if stamp.exists() and stamp.stat().st_mtime > changed and all(path.is_dir() for path in made.values()):
        return made
    for version, home in homes.items():
        sources = [path for path in SOURCES.glob("*.java")
                   if path.stem != "Generate" and (version >= 24 or path.stem not in ("VerifyAll", "Dump"))]
        run([home / "bin/javac", "-nowarn", "-d", made[version], *sources])
    stamp.touch()
    return made


@functools.cache
def probes():
    """The probes as the agent's build script has compiled them last."""
    cargo_build("-p", "hindsight-agent")
    made = (ROOT / "target/release/build").glob("hindsight-agent-*/out/shim/classes.rs")
    return max(made, key=lambda path: path.stat().st_mtime).parent


@functools.cache
def names_in(jar):
    """The classes of a jar, as lines."""
    with zipfile.ZipFile(jar) as archive:
        return "".join(f" {name[:-6]}\n" for name in archive.namelist()
                       if name.endswith(".class") and not name.startswith("META-INF/") and "\n" not in name)


def index(own, others, path):
    """Writes the list of all classes of all jars, `own` first."""
    with path.open("w") as out:
        for jar in [*own, *[jar for jar in others if jar not in own]]:
            out.write(f"{jar}\n{names_in(jar)}")


def harnesses(homes, classes, names):
    """The programs that verify."""
    newest = max(homes)
    found = []
    if newest >= 24:
        found.append((f"ClassFile.verify of JDK {newest}",
                      [homes[newest] / "bin/java", *SMALL, "-cp", classes[newest], "VerifyAll", names]))
    for version, home in homes.items():
        found.append((f"JVM {version}", [
            home / "bin/java", *SMALL, "-XX:MetaspaceSize=600m", "-XX:TieredStopAtLevel=1", *VERIFY,
            "--patch-module", f"java.base={probes()}", "--add-opens", "java.base/java.lang=ALL-UNNAMED",
            "--add-modules", "ALL-SYSTEM", "-cp", classes[version], "LoadAll", names]))
    return [{"name": name, "command": [str(word) for word in command]} for name, command in found]


def link_jdk(home, classes, jar, patches):
    """Links the classes of a JDK as they are in life, with those of `patches` in place of its own."""
    options = [f"--patch-module={module}={path}" for module, path in patches.items()]
    command = [home / "bin/java", *SMALL, "-Xss2m", *VERIFY, "--add-modules", "ALL-SYSTEM", *options,
               "-Djava.awt.headless=true", "-cp", classes, "LinkJdk", jar]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    counts, fails = collections.Counter(), {}
    for line in done.stdout.splitlines():
        kind, *rest = line.split("\t")
        if kind == "count":
            counts[rest[0]] += int(rest[1])
        elif kind == "fail":
            fails[rest[0]] = rest[1]
    if "done" not in done.stdout.splitlines():
        raise RuntimeError(f"the JVM did not get to the end: {done.stdout[-500:]} {done.stderr[-3000:]}")
    return counts, fails


def in_life(version, homes, classes, jar, result, patch):
    """The JDK's rewritten classes in the loaders they belong to, in a JVM that runs with them."""
    home = homes[version]
    _, before = link_jdk(home, classes[version], jar, {})
    harness = {"counts": {}, "lines": {"fail": [], "before": []}}
    for plan in result["plans"]:
        jars = patch / plan["name"].replace(" ", "-").replace(",", "-")
        patches = {path.stem: path for path in jars.glob("*.jar")}
        if not patches:
            continue
        patches["java.base"] = f"{patches['java.base']}:{probes()}"
        counts, fails = link_jdk(home, classes[version], jar, patches)
        fresh = {name: reason for name, reason in fails.items() if before.get(name, "")[:40] != reason[:40]}
        harness["counts"][plan["name"]] = {
            "verified": counts["verified"], "before": len(fails) - len(fresh), "failed": len(fresh)}
        harness["lines"]["fail"] += [f"{plan['name']}  {name}  {reason}" for name, reason in fresh.items()]
    result["harnesses"][f"JVM {version}, as its own"] = harness


def key(jars, jdk, homes):
    """What a result depends on: the driver, the programs that verify, the JDKs that they run on, the jars."""
    state = hashlib.sha256(DRIVER.read_bytes())
    for source in sorted(SOURCES.glob("*.java")):
        if source.stem not in (("LoadAll", "Hollow", "Generate") if jdk else ("LinkJdk", "ListJdk", "Generate")):
            state.update(source.read_bytes())
    state.update("\n".join([*map(release, homes.values()), *jars]).encode())
    return state.hexdigest()


def one_part(name, jars, every, homes, classes, options):
    """Does a part, unless it has been done."""
    out = HOME / f"{name}.json"
    version = int(name.removeprefix("jdk-")) if name.startswith("jdk-") else None
    state = key(jars, version, homes)
    if not options.fresh and out.exists():
        result = json.loads(out.read_text())
        # An interrupted run has no key.
        result["earlier"] = result.get("key") != state
        if "key" in result and (options.stored or not result["earlier"]):
            return result
    start = time.time()
    names = HOME / f"{name}.index"
    note(f"{name}: {len(jars)} jars")
    index(jars if version is None else [], every, names)
    patch = HOME / f"{name}.patch" if version else None
    if patch:
        # It was left by an interrupted run.
        run(["rm", "-rf", patch])
    spec = HOME / f"{name}.spec"
    known = harnesses(homes, classes, names)
    if version:
        # Classes of java.lang can only be defined by the boot loader; see `in_life`.
        known = [harness for harness in known if not harness["name"].startswith("JVM")]
    spec.write_text(json.dumps({
        "jars": jars, "harnesses": known, "out": str(out),
        "hashes": str(HOME / f"{name}.hashes"), "patch": str(patch) if patch else None}))
    run([DRIVER, "run", spec])
    result = json.loads(out.read_text())
    if version:
        in_life(version, homes, classes, jars[0], result, patch)
        run(["rm", "-r", patch])
    names.unlink()
    result |= {"key": state, "part": name, "wall": time.time() - start, "earlier": False}
    out.write_text(json.dumps(result, indent=1))
    return result


def show(result):
    """A part in some lines."""
    print(f"{result['part']}: {result['classes']:,} classes, {result['methods']:,} methods, "
          f"versions {min(map(int, result['versions']))} to {max(map(int, result['versions']))}, "
          f"{result['wall']:.0f} s")
    for what in ("unreadable", "changed"):
        for line in result[what]:
            print(f"  {what}: {line}")
    for plan in result["plans"]:
        print(f"  {plan['name']}: {plan['classes']:,} classes, {plan['methods']:,} methods rewritten; "
              f"nothing to do {sum(plan['nothing'].values()):,}; skipped {plan['skipped']}")
        for line in [*plan["errors"], *plan["examples"]]:
            print(f"    {line}")
    for name, harness in result["harnesses"].items():
        for plan, counts in harness["counts"].items():
            print(f"  {name}: {plan}: {counts}")
        for kind, lines in harness["lines"].items():
            for line in lines[:20]:
                print(f"    {kind}: {line[:300]}")


def failures(result):
    """How much went wrong in a part."""
    count = len(result["changed"]) + sum(len(plan["errors"]) for plan in result["plans"])
    for harness in result["harnesses"].values():
        count += len(harness["lines"].get("fail", [])) + len(harness["lines"].get("differs", []))
    return count


def cell(counts):
    """What a verifier found under a plan."""
    parts = [f"{counts.get('verified', 0):,}"]
    for key, text in (("verified leniently", "leniently"), ("verified in part", "in part"), ("before", "failed before"),
                      ("too old", "too old"), ("too new", "too new")):
        if counts.get(key):
            parts.append(f"{counts[key]:,} {text}")
    parts.append(f"**{counts.get('failed', 0):,} failed**")
    return ", ".join(parts)


def totals(results):
    """What all parts come to under each plan."""
    said = collections.defaultdict(list)
    for at, name in enumerate(plan["name"] for plan in results[0]["plans"]):
        plans = [result["plans"][at] for result in results]
        skipped, verifiers = collections.Counter(), collections.defaultdict(collections.Counter)
        for plan in plans:
            skipped.update(plan["skipped"])
        for result in results:
            for verifier, harness in result["harnesses"].items():
                verifiers[verifier].update(harness["counts"].get(name, {}))
        rewritten = sum(plan["methods"] for plan in plans)
        other = sum(count for reason, count in skipped.items() if reason not in SIZE_OR_AGE)
        share = 10_000 * other / max(1, rewritten + skipped.total())
        text = (f"{rewritten:,} methods of {sum(plan['classes'] for plan in plans):,} classes rewritten; "
                f"{skipped.total():,} more stay though there is something to do, {other:,} of them "
                f"({share:.2f} in 10,000) for a reason other than size or age.")
        for verifier, counts in sorted(verifiers.items()):
            verified = sum(count for kind, count in counts.items() if kind.startswith("verified"))
            text += f"\n  - {verifier}: {verified:,} classes verified, **{counts['failed']:,} failed**"
        said[text].append(name)
    return ["In all:", "", *(f"- **{' / '.join(names)}**: {text}" for text, names in said.items())]


def table(results):
    """The tables of SURVIVE.md."""
    distinct = set()
    for result in results:
        hashes = (HOME / f"{result['part']}.hashes").read_bytes()
        distinct.update(hashes[at:at + 16] for at in range(0, len(hashes), 16))
    total = collections.Counter()
    lines = ["| part | classes | versions | methods | written back as read | read alike by two readers | unreadable |",
             "|---|--:|---|--:|--:|--:|--:|"]
    for result in results:
        agreed = sum(h["counts"].get("original", {}).get("agreed", 0) for h in result["harnesses"].values())
        ages = sorted(map(int, result["versions"]))
        row = {"classes": result["classes"], "methods": result["methods"],
               "same": result["classes"] - len(result["changed"]), "agreed": agreed,
               "unreadable": len(result["unreadable"])}
        total.update(row)
        lines.append(f"| {result['part']} | {row['classes']:,} | {ages[0]} to {ages[-1]} | {row['methods']:,} "
                     f"| {row['same']:,} | {row['agreed']:,} | {row['unreadable']} |")
    lines += [f"| all | {total['classes']:,} | | {total['methods']:,} | {total['same']:,} | {total['agreed']:,} "
              f"| {total['unreadable']} |", "",
              f"{len(distinct):,} of these class files are different ones.", "", *totals(results), "",
              "| part | plan | classes rewritten | methods rewritten | nothing to do | skipped | other than size and age |",
              "|---|---|--:|--:|--:|---|--:|"]
    for result in results:
        for plan in result["plans"]:
            skipped = ", ".join(f"{count:,} {reason}" for reason, count in plan["skipped"].items()) or "0"
            other = sum(count for reason, count in plan["skipped"].items() if reason not in SIZE_OR_AGE)
            lines.append(f"| {result['part']} | {plan['name']} | {plan['classes']:,} | {plan['methods']:,} "
                         f"| {sum(plan['nothing'].values()):,} | {skipped} | {other} |")
    lines += ["", "| part | plan | verifier | classes |", "|---|---|---|---|"]
    for result in results:
        for name, harness in result["harnesses"].items():
            cells = {plan: cell(counts) for plan, counts in harness["counts"].items() if plan != "original"}
            for text in dict.fromkeys(cells.values()):
                plans = " / ".join(plan for plan in (p["name"] for p in result["plans"]) if cells.get(plan) == text)
                lines.append(f"| {result['part']} | {plans} | {name} | {text} |")
    lines += [""]
    for result in results:
        lines += [f"- unreadable: {text}" for text in result["unreadable"]]
        lines += [f"- not written back as read: {text}" for text in result["changed"]]
        for name, harness in result["harnesses"].items():
            lines += [f"- {result['part']}, {name}: {kind}: {text}"
                      for kind in ("fail", "differs") for text in harness["lines"].get(kind, [])]
    return "\n".join(lines) + "\n"


def write_table(results, homes, absent):
    """Puts the tables into SURVIVE.md, below what is written by hand."""
    missing = f" Not done in this run: {', '.join(absent)}." if absent else ""
    earlier = ", ".join(result["part"] for result in results if result["earlier"])
    if earlier:
        missing += f" Done with an earlier version of the driver, the verifying programs or the JDKs: {earlier}."
    head = TABLE.read_text().split(MARK)[0]
    TABLE.write_text(f"{head}{MARK}\n\nWith JDK {' and '.join(map(release, homes.values()))}.{missing}\n\n{table(results)}")


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench survive")
    parser.add_argument("--part", nargs="*", help="parts of the corpus, instead of all")
    parser.add_argument("--fresh", action="store_true", help="do again what has been done")
    parser.add_argument("--stored", action="store_true",
                        help="take what is stored, also that of earlier versions; the tables say so")
    parser.add_argument("--jobs", type=int, default=1, help="parts at a time; each takes up to 6 GB")
    parser.add_argument("--write", action="store_true", help="write the tables of test-programs/SURVIVE.md")
    options = parser.parse_args(rest)
    cargo_build("-p", "hindsight-test-programs")
    HOME.mkdir(parents=True, exist_ok=True)
    homes = jdks()
    classes = compile_java(homes)
    listed = corpus()
    names = [*(f"jdk-{version}" for version in homes), *listed, "generated"]
    wanted = options.part or names
    for part in wanted:
        if part not in names:
            parser.error(f"there is no part {part}; there are {', '.join(names)}")
    # A part needs all of the corpus, to look up what its jars refer to.
    paths = fetch([coordinates for part in listed.values() for coordinates in part])
    parts = {}
    for part, coordinates in listed.items():
        parts[part], paths = paths[:len(coordinates)], paths[len(coordinates):]
    every = [jar for jars in parts.values() for jar in jars]
    for part in wanted:
        if part == "generated":
            parts[part], bases = generate(homes, fetch, SOURCES, HOME / "generated")
            every = [*bases, *every]
        elif part not in parts:
            version = int(part.removeprefix("jdk-"))
            jar = HOME / f"jdk-{release(homes[version])}.jar"
            if not jar.exists():
                # An interrupted run must not leave a part of it by this name.
                begun = jar.with_suffix(".begun")
                run([homes[version] / "bin/java", "-cp", classes[version], "ListJdk", begun])
                begun.rename(jar)
            parts[part] = [str(jar)]

    def one(part):
        result = one_part(part, parts[part], every, homes, classes, options)
        show(result)
        return result

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(one, wanted))
    if options.write:
        write_table(results, homes, [part for part in names if part not in wanted])
    bad = [result["part"] for result in results if failures(result)]
    if bad:
        print(f"failures in {', '.join(bad)}")
    return 1 if bad else 0

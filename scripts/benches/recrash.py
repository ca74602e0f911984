"""The table of ReCrash's thesis on today's programs: svnkit, and compilers with small and middling inputs."""

import argparse
import subprocess

from .common import ROOT, agent_option, build, chosen, fresh, jars, javac, jdks, note
from .overhead import AFTER, ECJ, compare, show, unpack
from .reproduce import properties

SOURCES = ROOT / "test-programs" / "bench"
TREE = ["org.apache.commons:commons-lang3:3.14.0:sources"]
# Inputs by their numbers of lines: single files of commons-lang3, and a package as the last one.
INPUTS = {
    50: ["function/Consumers.java"],
    100: ["exception/ExceptionContext.java"],
    650: ["Functions.java"],
    8000: ["time/*.java"],
}
ROUNDS = {50: 300, 100: 300, 650: 120, 8000: 30}
SVN_ROUNDS = 6
# The methods that second chance knows after a failure in svnkit's update.
SVN_AFTER = [f"org.tmatesoft.svn.core.{method}" for method in [
    "internal.wc2.ng.SvnNgUpdate.run", "internal.wc2.ng.SvnNgAbstractUpdate.updateInternal", "internal.wc2.ng.SvnNgAbstractUpdate.update",
    "internal.wc2.ng.SvnNgAbstractUpdate.doUpdate", "internal.wc.SVNUpdateEditor17.addFile", "internal.wc.SVNUpdateEditor17.closeFile",
    "internal.wc17.SVNUpdateEditor17.addFile", "internal.wc17.SVNUpdateEditor17.closeFile", "internal.wc17.SVNUpdateEditor17.openFile",
    "internal.wc17.SVNReporter17.report", "internal.wc17.SVNReporter17.reportRevisionsAndDepths",
    "wc.SVNUpdateClient.doUpdate", "wc.SVNUpdateClient.doCheckout", "wc2.SvnOperation.run",
]]


def pick(tree, target, wanted):
    """Copies the files of an input; how many lines they have."""
    lines = 0
    root = tree / "org/apache/commons/lang3"
    for path in (path for name in wanted for path in root.glob(name)):
        text = path.read_text()
        lines += text.count("\n")
        copy = target / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
    return lines


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench recrash")
    parser.add_argument("--runs", type=int, default=3, help="JVMs of each kind")
    parser.add_argument("--jdk", type=int, default=None)
    parser.add_argument("--sides", nargs="*", default=["reference", "fields", "deep", "second", "after"],
                        help="what to compare with: copy strategies, second (second chance before a failure), after (one)")
    parser.add_argument("--only", nargs="*", default=["svnkit", "ecj", "javac"])
    options = parser.parse_args(rest)
    build()
    version, home = min(chosen(jdks(), options.jdk).items())
    work = fresh("recrash")
    for name, methods in (("ecj", AFTER), ("javac", []), ("svnkit", SVN_AFTER)):
        (work / f"chances-{name}").write_text("".join(f"{method}\n" for method in methods))

    def sides_of(name):
        include = {"include": "com.sun.tools.javac.**"} if name == "javac" else {}
        sides = {copy: [agent_option(out=work / f"out-{copy}", copy=copy, **include)] for copy in options.sides if copy not in ("second", "after")}
        if "second" in options.sides:
            sides["second"] = [agent_option(out=work / "out-second", mode="second-chance", **include)]
        if "after" in options.sides and name != "javac":
            sides["after"] = [agent_option(out=work / "out-after", mode="second-chance", chances=work / f"chances-{name}", **include)]
        return {"without": [], **sides}

    if "svnkit" in options.only:
        spec = properties(ROOT / "test-programs/whole/svnkit/whole.properties")
        libraries = jars(spec["jars"].split())
        classes = javac(home, work / "svn-classes", [SOURCES / "SvnLoop.java"], libraries)
        classpath = ":".join([str(classes), *libraries])
        repository = work / "svn"
        repository.mkdir()
        note("  makes a repository")
        subprocess.run([home / "bin/java", "-cp", classpath, "SvnLoop", "create", repository], check=True)
        for task in ("checkout", "update"):
            sides = sides_of("svnkit")
            figures = compare(f"svnkit {task}", lambda side: [home / "bin/java", *sides[side], "-cp", classpath, "SvnLoop", task,
                              str(repository), str(SVN_ROUNDS)], sides, options.runs, SVN_ROUNDS)
            print(f"svnkit {task} of 900 files, 40 MB, {SVN_ROUNDS} times in one JVM, JDK {version}, {options.runs} JVMs each")
            show(figures)
    tree = work / "tree"
    unpack(tree, TREE)
    classes = javac(home, work / "classes", [SOURCES / "CompileLoop.java"])
    classpath = ":".join([str(classes), *jars([ECJ])])
    library = javac(home, work / "library", tree.rglob("*.java"), options=["-encoding", "UTF-8"])
    for compiler in ("ecj", "javac"):
        if compiler not in options.only:
            continue
        for size, files in INPUTS.items():
            source = work / f"input-{size}"
            lines = pick(tree, source, files)
            sides = sides_of(compiler)
            rounds = ROUNDS[size]
            figures = compare(f"{compiler} {size}", lambda side: [home / "bin/java", *sides[side], "-cp", classpath, "CompileLoop", compiler,
                              str(source), str(work / f"out-classes-{side}"), str(rounds), str(library)], sides, options.runs, rounds)
            print(f"{compiler} compiling {lines:,} lines {rounds} times in one JVM, JDK {version}, {options.runs} JVMs each")
            show(figures)
    return 0

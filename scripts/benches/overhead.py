"""Compilers compiling a large tree: the cost of the agent in first runs and in steady state."""

import argparse
import statistics
import subprocess
import zipfile

from .common import ROOT, agent_option, build, fresh, jars, javac, jdks, note

# Together about 390,000 lines; see test-programs/compile-inputs.txt.
TREES = [
    "org.apache.commons:commons-math3:3.6.1:sources",
    "org.apache.commons:commons-collections4:4.4:sources",
    "org.apache.commons:commons-lang3:3.14.0:sources",
]
ECJ = "org.eclipse.jdt:ecj:3.40.0"

# What second chance knows after a failure in ecj: the methods of a stack deep in a method's body.
AFTER = [f"org.eclipse.jdt.internal.compiler.{method}" for method in [
    "lookup.Scope.findMethod", "lookup.Scope.findMethod0", "lookup.Scope.getMethod", "ast.MessageSend.findMethodBinding",
    "ast.MessageSend.resolveType", "ast.Expression.resolve", "ast.BinaryExpression.resolveType",
    "ast.Expression.resolveTypeExpecting", "ast.IfStatement.resolve", "ast.Block.resolve", "ast.ForStatement.resolve",
    "ast.LocalDeclaration.resolve", "ast.Statement.resolveWithBindings", "ast.AbstractMethodDeclaration.resolveStatements",
    "ast.MethodDeclaration.resolveStatements", "ast.AbstractMethodDeclaration.resolve", "ast.TypeDeclaration.resolve",
    "ast.CompilationUnitDeclaration.resolve", "Compiler.process", "Compiler.processCompiledUnits", "Compiler.compile",
]]


def unpack(target, trees):
    """The source tree; how many lines it has."""
    lines = 0
    for jar in jars(trees):
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".java") and not name.startswith("META-INF/") and "module-info" not in name:
                    data = archive.read(name)
                    lines += data.count(b"\n")
                    path = target / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
    return lines


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench overhead")
    parser.add_argument("--runs", type=int, default=3, help="JVMs of each kind")
    parser.add_argument("--rounds", type=int, default=12,
                        help="compilations in one JVM; the last third counts as steady (the JIT is busy with javac for eight)")
    parser.add_argument("--compiler", nargs="*", default=["ecj", "javac"])
    parser.add_argument("--jdk", type=int, default=None)
    parser.add_argument("--trees", type=int, default=len(TREES), help="compile only the last ones of the source trees")
    parser.add_argument("--sides", nargs="*", default=["reference", "fields", "deep"],
                        help="what to compare with: these, second (second chance before a failure), after (one), dump (dump-on)")
    options = parser.parse_args(rest)
    build()
    work = fresh("overhead")
    lines = unpack(work / "src", TREES[-options.trees:])
    (work / "chances").write_text("\n".join(AFTER) + "\n")
    homes = jdks()
    version = options.jdk or min(homes)
    home = homes[version]
    classes = javac(home, work / "classes", [ROOT / "test-programs/bench/CompileLoop.java"])
    ecj = jars([ECJ])
    for compiler in options.compiler:
        # javac is a part of the JDK, which is left alone unless asked for.
        include = {"include": "com.sun.tools.javac.**"} if compiler == "javac" else {}
        sides = {
            "without": [],
            "reference": [agent_option(out=work / "out", copy="reference", **include)],
            "fields": [agent_option(out=work / "out", copy="fields", **include)],
            "deep": [agent_option(out=work / "out", copy="deep", **include)],
            "second": [agent_option(out=work / "out", mode="second-chance", **include)],
            "after": [agent_option(out=work / "out", mode="second-chance", chances=work / "chances", **include)],
            "dump": [agent_option(out=work / "out", dump_on="USR1", **include)],
        }
        sides = {side: sides[side] for side in ["without", *options.sides]}
        figures = {side: {"first": [], "steady": [], "whole": [], "wall": []} for side in sides}
        for run in range(options.runs):
            for side, agent in sides.items():
                done = subprocess.run(
                    [home / "bin/java", *agent, "-Xmx3g", "-cp", ":".join([str(classes), *ecj]), "CompileLoop",
                     compiler, str(work / "src"), str(work / f"classes-{compiler}"), str(options.rounds)],
                    capture_output=True, text=True)
                rounds = [line.split() for line in done.stdout.splitlines()]
                if len(rounds) != options.rounds or any(r[2] != "ok" for r in rounds):
                    raise RuntimeError(f"{compiler} {side}: {done.stdout}{done.stderr[:2000]}")
                cpu = [int(r[0]) for r in rounds]
                figures[side]["first"].append(cpu[0])
                figures[side]["steady"] += cpu[-max(1, len(cpu) // 3):]
                figures[side]["whole"].append(sum(cpu))
                figures[side]["wall"].append(sum(int(r[1]) for r in rounds))
                note(f"  {compiler} run {run + 1} {side}: {cpu}")
        print(f"{compiler} compiling {lines:,} lines {options.rounds} times in one JVM, JDK {version}, {options.runs} JVMs each")
        print(f"  {'':10} {'first, CPU ms':>24} {'steady, CPU ms':>24} {'all, CPU ms':>24} {'all, wall ms':>24}")
        for side in sides:
            cells = []
            for column in ("first", "steady", "whole", "wall"):
                median = statistics.median(figures[side][column])
                base = statistics.median(figures["without"][column])
                values = figures[side][column]
                cells.append(f"{median:7.0f} [{min(values)}..{max(values)}] {median / base:.3f}")
            print(f"  {side:10} " + " ".join(f"{cell:>24}" for cell in cells))
    return 0

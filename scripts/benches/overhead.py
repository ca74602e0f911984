"""Compilers compiling a large tree: the cost of the agent in first runs and in steady state."""

import argparse
import statistics
import zipfile

from .common import ROOT, agent_option, build, chosen, fresh, in_turns, jars, javac, jdks, note

COLUMNS = {"first": "first, CPU ms", "steady": "steady, CPU ms", "own": "steady, no JIT", "whole": "all, CPU ms", "wall": "process, wall ms",
           "resident": "most resident, MB"}

# About 390,000 lines together; see test-programs/compile-inputs.txt.
TREES = [
    "org.apache.commons:commons-math3:3.6.1:sources",
    "org.apache.commons:commons-collections4:4.4:sources",
    "org.apache.commons:commons-lang3:3.14.0:sources",
]
ECJ = "org.eclipse.jdt:ecj:3.40.0"

# The methods that second chance knows after a failure in ecj: those of a stack deep in a method's
# body.
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


def compare(name, command, sides, runs, rounds):
    """Runs the sides in turns.

    The programs print a line a round: CPU and wall milliseconds, CPU milliseconds of the JIT if they know, and `ok`.
    """
    figures = {side: {column: [] for column in COLUMNS} for side in sides}
    for run in range(runs):
        for side, (done, seconds, resident) in zip(sides, in_turns([command(side) for side in sides])):
            lines = [line.split() for line in done.stdout.splitlines()]
            if len(lines) != rounds or any(line[-1] != "ok" for line in lines):
                raise RuntimeError(f"{name} {side}: {done.stdout}{done.stderr[:2000]}")
            cpu = [int(line[0]) for line in lines]
            figures[side]["first"].append(cpu[0])
            # The JVM reports CPU time in steps of 10 ms, so only a mean is meaningful for short
            # rounds.
            steady = max(1, rounds // 3)
            figures[side]["steady"].append(round(statistics.mean(cpu[-steady:])))
            # In a large program the JIT goes on for minutes, and what it does when is a matter of
            # chance.
            if all(len(line) > 3 for line in lines):
                jit = [int(line[2]) for line in lines]
                figures[side]["own"].append(round(statistics.mean(both - its for both, its in zip(cpu[-steady:], jit[-steady:]))))
            figures[side]["whole"].append(sum(cpu))
            figures[side]["wall"].append(round(1000 * seconds))
            figures[side]["resident"].append(resident)
            note(f"  {name} run {run + 1} {side}: {cpu}")
    return figures


def show(figures):
    """The table of what `compare` found, with ratios of medians to the side `without`."""
    known = [column for column in COLUMNS if figures["without"][column]]
    print(f"  {'':10} " + " ".join(f"{COLUMNS[column]:>30}" for column in known))
    for side, columns in figures.items():
        cells = []
        for column in known:
            values = columns[column]
            base = statistics.median(figures["without"][column])
            median = statistics.median(values)
            cells.append(f"{median:7g} [{min(values)}..{max(values)}] {median / max(base, 1):.3f}")
        print(f"  {side:10} " + " ".join(f"{cell:>30}" for cell in cells), flush=True)


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench overhead")
    parser.add_argument("--runs", type=int, default=3, help="JVMs of each kind")
    parser.add_argument("--rounds", type=int, default=12,
                        help="compilations in one JVM; the last third counts as steady (the JIT is busy with javac for eight, "
                             "with ecj for more than thirty)")
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
    version, home = min(chosen(jdks(), options.jdk).items())
    classes = javac(home, work / "classes", [ROOT / "test-programs/bench/CompileLoop.java"])
    ecj = jars([ECJ])
    for compiler in options.compiler:
        # javac is a part of the JDK, which is not instrumented unless asked for.
        include = {"include": "com.sun.tools.javac.**"} if compiler == "javac" else {}
        agents = {
            "reference": {"copy": "reference"},
            "fields": {"copy": "fields"},
            "deep": {"copy": "deep"},
            "second": {"mode": "second-chance"},
            "after": {"mode": "second-chance", "chances": work / "chances"},
            "dump": {"dump_on": "USR1"},
        }
        sides = {"without": []}
        for side in options.sides:
            sides[side] = [agent_option(out=work / f"out-{side}", **agents[side], **include)]

        def command(side):
            return [home / "bin/java", *sides[side], "-Xmx3g", "-cp", ":".join([str(classes), *ecj]), "CompileLoop",
                    compiler, str(work / "src"), str(work / f"classes-{compiler}-{side}"), str(options.rounds)]

        figures = compare(compiler, command, sides, options.runs, options.rounds)
        print(f"{compiler} compiling {lines:,} lines {options.rounds} times in one JVM, JDK {version}, {options.runs} JVMs each")
        show(figures)
    return 0

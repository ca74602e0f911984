"""Classes made on the spot: by compilers, weavers, a shrinker, and at run time."""

import shutil
import subprocess
import zipfile

from .common import jars, note

SOURCES = "org.apache.commons:commons-lang3:3.14.0:sources"
WOVEN = "org.apache.commons:commons-lang3:3.8"
ECJ = "org.eclipse.jdt:ecj:3.40.0"
GUAVA = "com.google.guava:guava:33.2.1-jre"
RUN_TIME = ["net.bytebuddy:byte-buddy:1.14.17", "cglib:cglib-nodep:3.3.0"]
PROGUARD = [
    "com.guardsquare:proguard-base:7.5.0", "com.guardsquare:proguard-core:9.1.4",
    "org.jetbrains.kotlin:kotlin-stdlib:2.1.0", "org.jetbrains.kotlin:kotlin-metadata-jvm:2.0.0",
    "com.google.code.gson:gson:2.9.0", "org.apache.logging.log4j:log4j-api:2.19.0",
    "org.apache.logging.log4j:log4j-core:2.19.0", "org.json:json:20231013"]


def pack(directory, jar):
    """A jar of all class files below a directory."""
    classes = sorted(directory.rglob("*.class"))
    if not classes:
        raise RuntimeError(f"no classes for {jar.name}")
    with zipfile.ZipFile(jar, "w") as archive:
        for path in classes:
            archive.write(path, path.relative_to(directory))
    shutil.rmtree(directory)
    return jar


def unpacked(jar, directory):
    """The Java sources of a jar of sources."""
    with zipfile.ZipFile(jar) as archive:
        names = [name for name in archive.namelist() if name.endswith(".java") and "module-info" not in name]
        archive.extractall(directory, names)
    return [directory / name for name in names]


def generate(homes, fetch, sources, work):
    """Makes the jars that are not there yet; all of them."""
    work.mkdir(parents=True, exist_ok=True)
    made = []

    def step(name, make):
        """Has one jar made, unless it is there."""
        jar = work / f"{name}.jar"
        if not jar.exists():
            out = work / name
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            note(f"  making {jar.name}")
            make(out)
            pack(out, jar)
        made.append(str(jar))

    def run(command, accepted=(0,), **options):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
        if done.returncode not in accepted:
            raise RuntimeError(f"{command[:4]}: {done.stdout[-1500:]} {done.stderr[-1500:]}")

    newest, oldest = homes[max(homes)], homes[min(homes)]
    [ecj, woven] = jars([ECJ, WOVEN])
    trees = unpacked(jars([SOURCES])[0], work / "sources")
    for target in ("1.8", "21"):
        step(f"ecj-{target}", lambda out: run(
            [newest / "bin/java", "-jar", ecj, "-nowarn", "-g", "-proceedOnError", "-source", target, "-target",
             target, "-d", out, *trees], accepted=(0, 255)))
    for release, debug in (("8", "-g:none"), ("17", "-g"), (str(max(homes)), "-g")):
        step(f"javac-{release}", lambda out: run(
            [newest / "bin/javac", "-nowarn", "-proc:none", debug, "--release", release, "-d", out, *trees]))
    [tools] = fetch(["org.aspectj:aspectjtools:1.9.22"])
    step("aspectj", lambda out: run(
        [oldest / "bin/java", "-cp", tools, "org.aspectj.tools.ajc.Main", "-17", "-nowarn", "-inpath", woven,
         "-classpath", tools, "-d", out, sources / "Woven.aj"]))
    [guava] = fetch([GUAVA])
    proguard = ":".join(fetch(PROGUARD))
    modes = {
        "small": ["-optimizationpasses", "3", "-overloadaggressively", "-allowaccessmodification",
                  "-mergeinterfacesaggressively", "-repackageclasses", "''"],
        "without-optimisation": ["-dontoptimize", "-dontshrink", "-useuniqueclassmembernames"],
    }
    for mode, extra in modes.items():
        def shrunk(out):
            # It would copy the jar into a directory as a jar.
            jar = out / "shrunk.jar"
            run([oldest / "bin/java", "-Xmx1500m", "-cp", proguard, "proguard.ProGuard", "-injars", guava, "-outjars",
                 jar, "-libraryjars", f"{oldest}/jmods/java.base.jmod(!**.jar;!module-info.class)", "-dontwarn",
                 "-ignorewarnings", "-keep", "public class com.google.common.collect.** { public *; }", *extra])
            with zipfile.ZipFile(jar) as archive:
                archive.extractall(out)
        step(f"proguard-{mode}", shrunk)
    run_time = ":".join([*fetch(RUN_TIME), guava])
    for version, home in homes.items():
        def at_run_time(out):
            run([home / "bin/javac", "-nowarn", "-cp", run_time, "-d", out / "program", sources / "Generate.java"])
            (out / "lambdas").mkdir()
            run([home / "bin/java", "-cp", f"{out / 'program'}:{run_time}", "-Dnet.bytebuddy.experimental=true",
                 "--add-opens", "java.base/java.lang=ALL-UNNAMED", f"-Dcglib.debugLocation={out / 'cglib'}",
                 # JDK 25 does not define proxies that it saves.
                 f"-Djdk.proxy.ProxyGenerator.saveGeneratedFiles={str(home == oldest).lower()}",
                 f"-Djdk.internal.lambda.dumpProxyClasses={out / 'lambdas'}",
                 "-Djdk.invoke.LambdaMetafactory.dumpProxyClassFiles=true",
                 "-Djava.lang.invoke.MethodHandle.DUMP_CLASS_FILES=true",
                 "-Djdk.invoke.MethodHandle.dumpMethodHandleInternals=true",
                 "Generate", guava, out / "bytebuddy"], cwd=out)
        step(f"run-time-{version}", at_run_time)
    return made, [guava, woven]

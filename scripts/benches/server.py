"""A server under load, one request in a thousand failing: throughput, answer times, memory."""

import argparse
import json
import statistics
import subprocess
import urllib.request

from .common import ROOT, agent_option, build, chosen, fresh, jars, javac, jdks, note, ratio, spread

SOURCES = ROOT / "test-programs" / "bench"
TOMCAT = ["org.apache.tomcat:tomcat-annotations-api:10.1.30", "org.apache.tomcat.embed:tomcat-embed-core:10.1.30"]
# Tomcat catches the shop's exceptions, so the rule names the shop's own outermost method.
REPORT = "escape:ShopServer$Orders.doGet"
# A proxy that the environment names knows nothing of this machine's ports.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
SIDES = {"without": None, "reference": {"copy": "reference"}, "fields": {"copy": "fields"}, "second": {"mode": "second-chance"}}


class Server:
    """A running shop, and what its slices of load have given."""

    def __init__(self, name, home, classes, agent, options):
        self.name = name
        self.work = fresh(f"server/{name}")
        self.out = self.work / "out"
        if agent is not None:
            agent = [agent_option(out=self.out, report=REPORT, **agent)]
        errors = self.work / "stderr"
        with errors.open("w") as stderr:
            self.process = subprocess.Popen(
                [home / "bin/java", *(agent or []), f"-Xmx{options.heap}", "-cp", classes, "ShopServer", self.work / "tomcat"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True)
        port = self.process.stdout.readline()
        if not port:
            raise RuntimeError(f"the server {name} does not start: {errors.read_text()}")
        self.port = int(port)
        self.slices = []

    def stats(self):
        """CPU milliseconds so far, kB of heap after a collection, kB resident."""
        with DIRECT.open(f"http://localhost:{self.port}/stats") as answer:
            return [int(number) for number in answer.read().split()]

    def load(self, home, classes, seconds, clients):
        """One slice of load."""
        before = self.stats()
        done = subprocess.run(
            [home / "bin/java", "-Xmx1g", "-cp", classes, "ShopLoad", str(self.port), str(seconds), str(clients)],
            capture_output=True, text=True, check=True)
        requests, failures, rate, median, p99, slowest = (int(number) for number in done.stdout.split())
        cpu, heap, rss = self.stats()
        self.slices.append({"requests": requests, "failures": failures, "rate": rate, "median": median, "p99": p99,
                            "slowest": slowest, "cpu": 1000 * (cpu - before[0]) / requests, "heap": heap, "rss": rss})

    def of(self, key):
        """One figure of all slices."""
        return [each[key] for each in self.slices]

    def stop(self):
        """Ends the server; what its agent says, or nothing."""
        self.process.stdin.close()
        self.process.wait(60)
        run = self.out / "run.json"
        return json.loads(run.read_text()) if run.exists() else {}


def main(rest):
    parser = argparse.ArgumentParser(prog="scripts/bench server")
    parser.add_argument("--seconds", type=int, default=600, help="load on each server, all slices together")
    parser.add_argument("--slice", type=int, default=20, help="seconds of load before it is the next server's turn")
    parser.add_argument("--warm-up", type=int, default=20, help="seconds of load on each before anything counts")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--heap", default="256m")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=[*SIDES], help="besides the one without agent")
    parser.add_argument("--jdk", type=int, default=None)
    options = parser.parse_args(rest)
    build()
    version, home = min(chosen(jdks(), options.jdk).items())
    libraries = jars(TOMCAT)
    classes = javac(home, fresh("server") / "classes", [SOURCES / "ShopServer.java", SOURCES / "ShopLoad.java"], libraries)
    classpath = ":".join([str(classes), *libraries])
    sides = ["without", *(side for side in options.sides if side != "without")]
    servers = [Server(name, home, classpath, SIDES[name], options) for name in sides]
    try:
        for server in servers:
            server.load(home, classpath, options.warm_up, options.clients)
            server.slices.clear()
        for turn in range(max(1, options.seconds // options.slice)):
            note(f"  slice {turn + 1}")
            for server in servers:
                server.load(home, classpath, options.slice, options.clients)
    finally:
        runs = [server.stop() for server in servers]
    base = servers[0]
    print(f"shop on Tomcat, JDK {version}, {options.clients} connections, {len(base.slices)} slices of {options.slice} s each, one request in 1,000 fails")
    for server, run in zip(servers, runs):
        print(f"{server.name}: {sum(server.of('requests')):,} requests, {sum(server.of('failures')):,} failed")
        for key, unit in (("rate", "requests a second"), ("median", "us, median"), ("p99", "us, 99th percentile"), ("cpu", "us of the server's CPU a request")):
            print(f"  {spread(server.of(key))}   {ratio(server.of(key), base.of(key)):.3f} x   {unit}")
        third = max(1, len(server.slices) // 3)
        for key, what in (("heap", "heap after a collection"), ("rss", "resident")):
            first, last = (statistics.median(part) / 1024 for part in (server.of(key)[:third], server.of(key)[-third:]))
            print(f"  {what}: {first:.1f} MB in the first third, {last:.1f} MB in the last")
        files = sorted(server.out.glob("crash-*.hsc"))
        if run:
            print(f"  {len(files)} crash files, {sum(file.stat().st_size for file in files) / 1024:.0f} kB; "
                  f"{json.dumps({key: value for key, value in run.get('counters', {}).items() if 'crash' in key})}")
    return 0

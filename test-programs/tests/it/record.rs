//! Recordings that the program requests, by `dev.hindsight.Hindsight`.

use hindsight_test_programs::{Jdk, Workplace, both, hindsight, jdks, jdks_in_turn, render, text};
use hindsight_tracelog::crash::Fidelity;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SHOP: &str = "
import dev.hindsight.Hindsight;
import java.util.*;
public class Shop {
    static class Price {
        final int amount, tax;
        Price(int amount, int tax) { this.amount = amount; this.tax = tax; }
    }
    private int orders;

    int order(List<Integer> items, long time, double rate, boolean paid, byte b, char c, float f, String note) {
        orders++;
        if (items.size() > LIMIT) Hindsight.record(\"too many: \" + items.size());
        items = null; time++; rate++; paid = !paid; b++; c++; f++; note += \"!\";
        return orders;
    }
    // Large and never inlined below; what calls it keeps a price that the JIT takes apart.
    static int look(int i) {
        if (i == Integer.getInteger(\"at\", -1)) Hindsight.record(\"looked\");
        return i;
    }
    static int total(Price price, int i) {
        int x = look(i);
        return price.amount * price.tax + x;
    }
    static long loop(int i) {
        Price price = new Price(i, i + 1);
        return total(price, i + 2);
    }
    static void handle(String text) {
        try {
            parse(text, 2);
        } catch (NumberFormatException e) {
            complain(\"bad\", e);
        }
    }
    static void parse(String text, int from) { Integer.parseInt(text.substring(from)); }
    static void complain(String what, Exception e) { Hindsight.record(e); }

    static final int LIMIT = Integer.getInteger(\"limit\", 2);

    public static void main(String[] args) throws Exception {
        Shop shop = new Shop();
        shop.order(new ArrayList<>(List.of(1)), 1, 1, true, (byte) 1, 'a', 1, \"a\");
        shop.order(new ArrayList<>(List.of(1, 2, 3)), 1L << 40, -2.5, true, (byte) -3, 'q', 1.5f, \"note\");
        long sum = 0;
        for (int i = 0; i < 60_000; i++) sum += loop(i);
        Thread thread = new Thread(() -> handle(\"1x\" + 'y'), \"worker\");
        thread.start();
        thread.join();
        // The same place is stored once.
        handle(\"1xy\");
        System.out.println(sum);
    }
}
";

const OUTPUT: &str = "13332546806640\n";

const CRASHES: &str = "\
dev.hindsight.replay.StateRecorded in thread main, asked for by the program
  Shop.order:13 this=Shop{orders=2} items=ArrayList time=1099511627776 rate=-2.5 paid=true b=-3 c='q' f=1.5f note=\"note\" [at entry Shop.orders=1]
  Shop.main:45 args=[]
dev.hindsight.replay.StateRecorded in thread main, asked for by the program
  Shop.look:19 i=50001
  Shop.total:23 price=Shop$Price{amount=49999,tax=50000} i=50001
  Shop.loop:28 i=49999
  Shop.main:47 args=[]
java.lang.NumberFormatException in thread worker, asked for by the program
  Shop.parse:37 text=\"1xy\" from=2
  Shop.handle:32 text=\"1xy\"
  Shop.lambda$main$:48
java.lang.NumberFormatException in thread main, asked for by the program
  Shop.parse:37 text=\"1xy\" from=2
  Shop.handle:32 text=\"1xy\"
  Shop.main:52 args=[]
";

pub(crate) fn api(workplace: &Workplace) -> PathBuf {
    let jar = workplace.join("lib/hindsight-api.jar");
    let output = Command::new(hindsight())
        .args(["api", "--out"])
        .arg(&jar)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", both(&output));
    jar
}

/// The class path of a program that uses the API.
fn compile(workplace: &Workplace, jdk: &Jdk, name: &str, source: &str) -> String {
    let jar = api(workplace);
    let path = jar.to_str().unwrap();
    let classes = workplace.compile_text(jdk, &["--release", "17", "-cp", path], name, source);
    format!("{path}:{}", classes.display())
}

fn junit(workplace: &Workplace, jdk: &Jdk, classpath: &str, options: &[&str]) -> String {
    let output = workplace
        .junit(jdk, classpath)
        .arg("--quiet")
        .args(options)
        .output()
        .unwrap();
    both(&output)
}

fn source(workplace: &Workplace, name: &str) -> String {
    let path = Path::new("tests/src/test/java").join(name);
    fs::read_to_string(workplace.join(path)).unwrap()
}

#[test]
fn what_a_program_asks_for_is_recorded() {
    for jdk in jdks() {
        // The interpreter and both compilers each keep local variables in their own way.
        for (options, compiler) in [
            ("", &["-Xint"][..]),
            ("", &["-Xbatch", "-XX:TieredStopAtLevel=1"]),
            ("", &["-Xbatch", "-XX:-TieredCompilation"]),
            ("copy=deep", &["-Xbatch", "-XX:-TieredCompilation"]),
        ] {
            let workplace = Workplace::new("record");
            let classpath = compile(&workplace, jdk, "Shop", SHOP);
            let output = workplace
                .java_with_agent(jdk, options)
                .args(compiler)
                .args([
                    "-XX:CompileCommand=quiet",
                    "-XX:CompileCommand=dontinline,Shop::look",
                ])
                .args(["-Dat=50001", "-cp", &classpath, "Shop"])
                .output()
                .unwrap();
            assert_eq!(text(&output.stdout), OUTPUT, "{}", both(&output));
            assert_eq!(text(&output.stderr), "");
            let shown: String = workplace.crashes().iter().map(render).collect();
            let place = format!("JDK {} {options} {compiler:?}", jdk.version);
            assert_eq!(shown, CRASHES, "{place}");
            let crashes = workplace.crashes();
            let captured = crashes.iter().flat_map(|crash| &crash.failure.frames);
            let captured = captured.filter(|frame| frame.class == "Shop");
            let expected = match options {
                "" => Fidelity::Fields,
                _ => Fidelity::Deep,
            };
            for frame in captured {
                assert_eq!(frame.fidelity, expected, "{}, {place}", frame.method);
            }
        }
    }
}

/// With a plan all that the program may read is recorded, but nothing of the agent's: a test that
/// sets it would let `record` pass.
#[test]
fn static_fields_of_our_own_are_not_the_program_s() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("record-plan");
    let shop = SHOP.replace("static final int LIMIT", "static int LIMIT");
    let classpath = compile(&workplace, jdk, "Shop", &shop);
    let plan = workplace.join("a.plan");
    let made = Command::new(hindsight())
        .args(["plan", "--quiet", "--classpath", &classpath, "--out"])
        .arg(&plan)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", both(&made));
    let output = workplace
        .java_with_agent(jdk, &format!("plan={}", plan.display()))
        .args(["-Dat=50001", "-cp", &classpath, "Shop"])
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), OUTPUT, "{}", both(&output));
    let crashes = workplace.crashes();
    let fields = || crashes.iter().flat_map(|crash| &crash.failure.statics);
    assert!(fields().any(|field| field.owner == "Shop"), "{crashes:?}");
    let foreign: Vec<_> = fields().filter(|field| field.owner != "Shop").collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

#[test]
fn tests_fail_where_the_program_asked() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("record-tests");
        let classpath = compile(&workplace, jdk, "Shop", SHOP);
        let output = workplace
            .java_with_agent(jdk, "")
            .args(["-Dat=50001", "-cp", &classpath, "Shop"])
            .output()
            .unwrap();
        assert_eq!(text(&output.stdout), OUTPUT, "{}", both(&output));
        let told = junit(&workplace, jdk, &classpath, &[]);
        for part in [
            "#0   Shop.order:13  reproduces",
            "2 of 2 frames reproduce",
            "#1   Shop.total:23  reproduces",
            "4 of 4 frames reproduce",
            "Shop.parse:37",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        let tests = source(&workplace, "ShopCrash0001Test.java");
        assert!(
            tests.contains("try (Records records = Records.failIn(\"Shop.order\")) {"),
            "{tests}"
        );

        // These are the same tests if the program does not ask any more: nothing else fails, nor
        // does what it asks for elsewhere by a text.
        let fixed = SHOP
            .replace("items.size() > LIMIT", "items.size() > LIMIT + 1")
            .replace(
                "Hindsight.record(e)",
                "Hindsight.record(what); Hindsight.record(e)",
            );
        let classpath = compile(&workplace, jdk, "Shop", &fixed);
        let told = junit(&workplace, jdk, &classpath, &["--keep-all"]);
        assert!(told.contains("#0   Shop.order:13  passes"), "{told}");
        assert!(told.contains("0 of 2 frames reproduce"), "{told}");
        let words: Vec<&str> = told.split_whitespace().collect();
        let handle = ["#4", "Shop.handle:32", "reproduces"];
        assert!(words.windows(3).any(|words| words == handle), "{told}");
    }
}

#[test]
fn without_the_agent_nothing_happens() {
    let jdk = &jdks()[0];
    let workplace = Workplace::new("record-without");
    let classpath = compile(&workplace, jdk, "Shop", SHOP);
    for agent in [false, true] {
        let mut command = if agent {
            workplace.java_with_agent(jdk, "mode=off")
        } else {
            jdk.java()
        };
        let output = command.args(["-cp", &classpath, "Shop"]).output().unwrap();
        assert_eq!(text(&output.stdout), OUTPUT);
        assert_eq!(text(&output.stderr), "");
        assert!(workplace.crash_files().is_empty());
    }
}

/// An exception that another thread has thrown, handed over by the JDK: the frames that wait for it
/// are not its own.
const OTHER: &str = "
import dev.hindsight.Hindsight;
import java.util.concurrent.*;
public class Other {
    static int task(int n) { if (n % 2 == 1) throw new IllegalStateException(\"odd\"); return n; }
    static int outer(int n) { return task(n); }
    static void collect(Future<Integer> future, int n) throws Exception {
        try {
            future.get();
        } catch (ExecutionException e) {
            Hindsight.record(e.getCause());
        }
    }
    static void direct(int n) { Hindsight.record(new IllegalArgumentException(\"n\")); }
    static void again(ExecutorService pool) throws Exception {
        // On a thread of the pool, as the one that has failed was.
        Future<Integer> failed = pool.submit(() -> outer(3));
        pool.submit(() -> { collect(failed, 4); return 1; }).get();
    }
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        collect(pool.submit(() -> outer(1)), 2);
        direct(5);
        again(pool);
        pool.shutdown();
        Hindsight.record((Throwable) null);
        Hindsight.record((String) null);
        lightly(6);
    }
    // Without a stack trace, what has caught it tells which of the frames on the stack it is about.
    static class Light extends RuntimeException { Light() { super(null, null, false, false); } }
    static void light(int n) { throw new Light(); }
    static void lightly(int n) { try { light(7); } catch (Light e) { complain(\"bad\", e); } }
    static void complain(String what, Exception e) { Hindsight.record(e); }
}
";

#[test]
fn frames_of_another_thread_are_not_mixed_up() {
    for jdk in jdks() {
        let workplace = Workplace::new("record-other");
        let classpath = compile(&workplace, jdk, "Other", OTHER);
        let output = workplace
            .java_with_agent(jdk, "")
            .args(["-cp", &classpath, "Other"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", both(&output));
        assert_eq!(text(&output.stderr), "");
        let shown: String = workplace.crashes().iter().map(render).collect();
        assert_eq!(
            shown,
            "\
java.lang.IllegalStateException in thread main, asked for by the program
  Other.task:5 -- not known here: the exception has left it on another thread, or long ago
  Other.outer:6 -- not known here: the exception has left it on another thread, or long ago
  Other.lambda$main$:22 -- not known here: the exception has left it on another thread, or long ago
java.lang.IllegalArgumentException in thread main, asked for by the program
  Other.direct:14 n=5
  Other.main:23 args=[]
java.lang.IllegalStateException in thread pool-1-thread-1, asked for by the program
  Other.task:5 n=3
  Other.outer:6 n=3
  Other.lambda$again$:17
dev.hindsight.replay.StateRecorded in thread main, asked for by the program
  Other.main:27 args=[]
Other$Light in thread main, asked for by the program
  Other.light n=7
  Other.lightly:33 n=6
  Other.main:28 args=[]
",
            "JDK {}",
            jdk.version
        );
    }
}

const VIRTUAL: &str = "
import dev.hindsight.Hindsight;
public class Virtual {
    static void asks(int n) { Hindsight.record(\"why\"); }
    static void calls(int n, String text) { asks(n + 1); }
    public static void main(String[] args) throws Exception {
        Thread.ofVirtual().name(\"v\").start(() -> calls(7, \"x\")).join();
    }
}
";

#[test]
fn virtual_threads_can_ask() {
    for jdk in jdks().iter().filter(|jdk| jdk.version >= 21) {
        let workplace = Workplace::new("record-virtual");
        let jar = api(&workplace);
        let path = jar.to_str().unwrap();
        let classes = workplace.compile_text(jdk, &["-cp", path], "Virtual", VIRTUAL);
        let output = workplace
            .java_with_agent(jdk, "")
            .args(["-cp", &format!("{path}:{}", classes.display()), "Virtual"])
            .output()
            .unwrap();
        assert_eq!(text(&output.stderr), "");
        let shown: String = workplace.crashes().iter().map(render).collect();
        assert_eq!(
            shown,
            "\
dev.hindsight.replay.StateRecorded in virtual thread v, asked for by the program
  Virtual.asks:4 n=8
  Virtual.calls:5 n=7 text=\"x\"
  Virtual.lambda$main$:7
"
        );
    }
}

#[test]
fn tests_are_made_of_the_frames_that_are_asked_for() {
    let source = "
public class Deep {
    static class Inner { static int at(int[] all, int i) { return all[i]; } }
    static int loop(int depth, int[] all) {
        return depth == 0 ? Inner.at(all, 7) : loop(depth - 1, all) + 1;
    }
    public static void main(String[] args) { loop(20, new int[3]); }
}
";
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("asked");
        let (classes, _) = workplace.run_text(jdk, "17", "", ("Deep", source));
        let classes = classes.to_str().unwrap();
        let tried = |frames: &str| {
            let told = junit(
                &workplace,
                jdk,
                classes,
                &["--frames", frames, "--format", "json"],
            );
            let json = told.find('{').map_or("", |at| &told[at..]);
            let report: serde_json::Value = serde_json::from_str(json).expect(&told);
            let frames = report["crashes"][0]["frames"].as_array().unwrap().clone();
            let asked = frames
                .iter()
                .filter(|frame| frame["reason"] != "not asked for");
            let asked = asked.map(|frame| format!("{} {}", frame["index"], frame["verdict"]));
            asked.collect::<Vec<_>>()
        };
        // No other method asks for what is in the middle of a recursion.
        assert_eq!(
            tried("0,10-11"),
            ["0 \"reproduces\"", "10 \"reproduces\"", "11 \"reproduces\""]
        );
        assert_eq!(tried("Deep$*"), ["0 \"reproduces\""]);
        let told = junit(&workplace, jdk, classes, &["--frames", "Deeper"]);
        assert!(
            told.contains("--frames Deeper: no crash has such a frame"),
            "{told}"
        );
        let told = junit(&workplace, jdk, classes, &["--frames", "0"]);
        assert!(told.contains("#1-#22 22 frames of the stack "), "{told}");
    }
}

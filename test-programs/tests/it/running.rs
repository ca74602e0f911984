//! Frames that a program is still in when it has caught what failed: in stacks deeper than a stack
//! trace, and in methods that ran before they got their probes.

use crate::attach::Server;
use hindsight_test_programs::{Workplace, both, jdks_in_turn, render, text};
use hindsight_tracelog::crash::{Fidelity, Frame, Value};

/// Fails below a recursion, and in one that catches what it throws.
const DEEP: &str = "
public class Deep {
    static void boom(Object key) { throw new IllegalStateException(); }
    static void leaf(Object key) {
        try { boom(key); } catch (IllegalStateException e) { System.nanoTime(); }
    }
    static void walk(int n, Object key) {
        if (n == 0) {
            leaf(key);
        } else
            walk(n - 1, key);
    }
    static void fall(int n, String text) {
        if (n == 0) throw new IllegalArgumentException(text);
        if (n == 7) {
            try {
                fall(n - 1, text);
            } catch (IllegalArgumentException e) {
                System.nanoTime();
            }
        } else fall(n - 1, text);
    }
    public static void main(String[] args) {
        walk(Integer.parseInt(args[0]), new int[1]);
        fall(Integer.parseInt(args[0]), \"it\");
    }
}
";

#[test]
fn frames_of_a_deep_stack_have_their_own_arguments() {
    for jdk in jdks_in_turn() {
        // These are depths at which neither is cut, the trace is cut, and our list of frames as
        // well.
        for depth in [900, 1_500, 3_000] {
            let workplace = Workplace::new("running-deep");
            let classes = workplace.compile_text(jdk, &["-g", "--release", "17"], "Deep", DEEP);
            let output = workplace
                .java_with_agent(jdk, "report=caught:Deep.leaf;caught:Deep.fall")
                .arg("-cp")
                .arg(classes)
                .args(["Deep", &depth.to_string()])
                .output()
                .unwrap();
            assert_eq!(text(&output.stderr), "", "{}", both(&output));
            for crash in workplace.crashes() {
                let label = format!("JDK {} {depth} {}", jdk.version, render(&crash));
                let frames = crash
                    .failure
                    .frames
                    .iter()
                    .filter(|frame| frame.line.is_some());
                let not_captured = frames.filter(|frame| frame.fidelity == Fidelity::None);
                assert_eq!(not_captured.count(), 0, "{label}");
                for method in ["walk", "fall"] {
                    let of = |frame: &&Frame| frame.method == method;
                    let calls = crash.failure.frames.iter().filter(of);
                    for (n, call) in calls.enumerate() {
                        assert_eq!(call.arguments[0].value, Value::Int(n as i64), "{label}");
                    }
                }
            }
            assert_eq!(workplace.crashes().len(), 2);
        }
    }
}

/// Stays in a method that does not need its parameters any more.
const LOOP: &str = "
public class Server {
    static void loop(Object key, String name, long big, int given) throws Exception {
        say(\"ready\");
        for (int letter; (letter = System.in.read()) >= 0; ) {
            tick(letter);
            say(\"done\");
        }
        say(\"\" + given);
    }
    static void tick(int letter) {
        try { boom(letter); } catch (IllegalStateException e) { System.nanoTime(); }
    }
    static void boom(int letter) { throw new IllegalStateException(); }
    static void say(String what) { System.out.println(what); System.out.flush(); }
    public static void main(String[] args) throws Exception { loop(new Object(), \"joe\", 7777777777L, 8); }
}
";

#[test]
fn what_ran_before_the_agent_came_has_no_arguments_that_it_has_let_go() {
    for jdk in jdks_in_turn() {
        let workplace = Workplace::new("running-before");
        let mut server = Server::of(LOOP, jdk, &workplace, &["-Xcomp"]);
        server.ask(b'a');
        let out = workplace.join("out");
        let out = format!("out={},report=caught:Server.tick", out.display());
        let attached = server.attach(&[&out]);
        assert!(attached.status.success(), "{}", both(&attached));
        server.ask(b'b');
        let ended = server.end();
        assert!(ended.status.success(), "{}", both(&ended));
        let crash = &workplace.crashes()[0];
        let label = format!("JDK {} {}", jdk.version, render(crash));
        let frame = |name: &str| {
            let mut frames = crash.failure.frames.iter();
            frames.find(|frame| frame.method == name).expect(&label)
        };
        assert_eq!(frame("tick").fidelity, Fidelity::Fields, "{label}");
        assert_eq!(frame("tick").arguments[0].value, Value::Int(98), "{label}");
        let before = frame("loop");
        assert_eq!(before.fidelity, Fidelity::Reference, "{label}");
        assert!(
            before
                .reason
                .starts_with("it was running when it got its probes"),
            "{label}"
        );
        // The value that it will print is still there.
        let known: Vec<_> = before
            .arguments
            .iter()
            .map(|argument| argument.value)
            .collect();
        assert_eq!(known, [Value::Int(8)], "{label}");
    }
}

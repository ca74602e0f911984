// Reproduces a recorded crash:
//
// java.lang.IllegalStateException: ?
//     at shop.Cases.fixed(Cases.java:15)
//
// Program version: 1.2 (abc123)
// Recorded 2023-11-14 22:13:32 UTC in thread "main" of Java 17.0.15 (OpenJDK 64-Bit Server VM
//     17.0.15+6).
// Written by hindsight 0.1.0 from crash-0007.hsc, which holds the recorded state.
// Each test calls the method of one stack frame as it was called then.
// It fails while the bug is there, and passes when it is fixed.
package shop;

import dev.hindsight.replay.Call;
import dev.hindsight.replay.Crash;
import dev.hindsight.replay.Frame;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CasesCrash0007Test {

    // Frame 0 of the crash: shop.Cases.fixed(Cases.java:15)
    @Test
    void fixed_frame0() throws Exception {
        Cases.fixed(-3);
    }

    // Frame 1 of the crash: shop.Cases.secret(Cases.java:16)
    // It was left by exception 1 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void secret_frame1() throws Throwable {
        Cases cases = new Cases();
        cases.count = 1;
        cases.name = "failure";
        Call.method(cases, "shop.Cases", "secret", "(J)V", 4L);
    }

    // Frame 2 of the crash: shop.Cases.overloaded(Cases.java:17)
    // It was left by exception 2 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void overloaded_frame2() throws Exception {
        Cases cases = new Cases();
        cases.count = 1;
        cases.name = "failure";
        cases.overloaded((String) null);
    }

    // Frame 3 of the crash: shop.Cases.overloaded(Cases.java:18)
    // It was left by exception 3 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void overloaded_frame3() throws Exception {
        Cases cases = new Cases();
        cases.count = 1;
        cases.name = "failure";
        cases.overloaded((Object) null);
    }

    // Frame 4 of the crash: shop.Cases.boxes(Cases.java:22)
    // It was left by exception 4 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void boxes_frame4() throws Exception {
        Cases.boxes(7, 8, '\n', (byte) -1, 1.5f, Double.NaN, Long.MIN_VALUE, true);
    }

    // Frame 5 of the crash: shop.Cases.variable(Cases.java:25)
    // It was left by exception 5 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void variable_frame5() throws Exception {
        Cases.variable((String[]) null);
    }

    // Frame 6 of the crash: shop.Cases.variable(Cases.java:26)
    // It was left by exception 6 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void variable_frame6() throws Exception {
        Cases.variable(new String[] {"a", "b"});
    }

    // Frame 7 of the crash: shop.Cases.colour(Cases.java:29)
    // It was left by exception 7 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void colour_frame7() throws Exception {
        Cases.colour(Cases.Color.GREEN, int[].class);
    }

    // Frame 8 of the crash: shop.Cases.state(Cases.java:33)
    // It was left by exception 8 of the crash, which this test ends in: java.lang.Exception: ?
    @Test
    void state_frame8() throws Throwable {
        Cases cases = new Cases();
        cases.count = 5;
        cases.name = "entry";
        Map<String, Integer> map = new HashMap<>();
        map.put("k", 3);
        cases.state(new ArrayList<>(List.of("a", "b")), map);
    }

    // Frame 9 of the crash: shop.Base.over(Base.java:58)
    // It was left by exception 9 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void over_frame9() throws Throwable {
        Cases cases = new Cases();
        cases.count = 1;
        cases.name = "failure";
        Call.exactMethod(cases, "shop.Base", "over", "()V");
    }

    // Frame 10 of the crash: shop.Cases.<init>(Cases.java:13)
    // It was left by exception 10 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void new_Cases_frame10() throws Exception {
        new Cases("a");
    }

    // Frame 11 of the crash: shop.Cases$Inner.<init>(Cases.java:50)
    // It was left by exception 11 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void new_Inner_frame11() throws Exception {
        Cases arg1 = new Cases();
        arg1.count = 1;
        arg1.name = "failure";
        arg1.new Inner(2);
    }

    // Frame 12 of the crash: shop.Cases$Hidden.f(Cases.java:53)
    // It was left by exception 12 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void f_frame12() throws Throwable {
        Frame frame = Crash.of(CasesCrash0007Test.class, "crash-0007.hsc").frame(12);
        // h: Cases$Hidden {}
        Object h = frame.argument(1);
        Call.staticMethod("shop.Cases$Hidden", "f", "(Lshop/Cases$Hidden;)V", h);
    }

    // Frame 13 of the crash: shop.Base$1.run(Base.java:61)
    // It was left by exception 13 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void run_frame13() throws Throwable {
        Frame frame = Crash.of(CasesCrash0007Test.class, "crash-0007.hsc").frame(13);
        // this: Base$1 {}
        Object receiver = frame.receiver();
        Call.method(receiver, "shop.Base$1", "run", "()V");
    }

    // Frame 14 of the crash: shop.Cases.lambda$lambda$0(Cases.java:43)
    // It was left by exception 14 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void lambda_lambda_0_frame14() throws Throwable {
        // Behind the slash: what finds it where the program numbers it anew.
        Call.staticMethod("shop.Cases", "lambda$lambda$0/0/DIGEST/static", "(I)V", 1);
    }

    // Frame 15 of the crash: shop.Cases.frame(Cases.java:42)
    // It was left by exception 15 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void frame_frame15() throws Exception {
        Frame frame = Crash.of(CasesCrash0007Test.class, "crash-0007.hsc").frame(15);
        // receiver: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"... (70000
        //     characters)
        String receiver = frame.argument(3);
        Cases cases = new Cases();
        cases.count = 1;
        cases.name = "failure";
        cases.frame(1, 1, receiver);
    }

    // Frame 16 of the crash: shop.Cases.generic(Cases.java:45)
    // It was left by exception 16 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void generic_frame16() throws Exception {
        Cases cases = new Cases();
        cases.count = 1;
        cases.name = "failure";
        cases.generic("a", new ArrayList<>(List.of("a", "b")));
    }

    // Frame 17 of the crash: shop.Cases.huge(Cases.java:47)
    // It was left by exception 17 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    @Test
    void huge_frame17() throws Exception {
        Frame frame = Crash.of(CasesCrash0007Test.class, "crash-0007.hsc").frame(17);
        // s: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"... (70000
        //     characters)
        String s = frame.argument(1);
        Cases.huge(s);
    }

    // Frame 18 of the crash: shop.Cases.deep(Cases.java:1)
    // It was left by exception 18 of the crash, which this test ends in:
    //     java.lang.StackOverflowError: ?
    @Test
    void deep_frame18() throws Exception {
        Cases cases = new Cases();
        cases.count = 1;
        cases.name = "failure";
        cases.deep(1);
    }

    // Frame 19 of the crash: shop.Cases.other(Cases.java:36)
    // It was left by exception 19 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    // Verdict: differs: throws java.lang.IllegalArgumentException in shop.Cases.other:36
    //     (other) instead of java.lang.IllegalStateException in shop.Cases.other:36
    @Test
    void other_frame19() throws Exception {
        System.setProperty("shop.mode", "test");
        Frame frame = Crash.of(CasesCrash0007Test.class, "crash-0007.hsc").frame(19);
        // this: Cases {count = 1, name = "failure"}
        Cases cases = frame.receiver();
        cases.other();
    }

    // Frame 20 of the crash: shop.Cases.line(Cases.java:37)
    // It was left by exception 20 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    // Verdict: passes: returns without an exception
    @Test
    void line_frame20() throws Exception {
        System.setProperty("shop.mode", "test");
        Frame frame = Crash.of(CasesCrash0007Test.class, "crash-0007.hsc").frame(20);
        // this: Cases {count = 1, name = "failure"}
        Cases cases = frame.receiver();
        cases.line();
    }

    // Frame 21 of the crash: shop.Cases.loop(Cases.java:38)
    // It was left by exception 21 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    // Verdict: differs: timed out after 5 s
    @Test
    void loop_frame21() throws Exception {
        Cases cases = new Cases();
        cases.count = 1;
        cases.name = "failure";
        cases.loop();
    }

    // Frame 22 of the crash: shop.Cases.exit(Cases.java:39)
    // It was left by exception 22 of the crash, which this test ends in:
    //     java.lang.IllegalStateException: ?
    // Verdict: differs: the program ended the JVM (System.exit)
    @Test
    void exit_frame22() throws Exception {
        System.setProperty("shop.mode", "test");
        Frame frame = Crash.of(CasesCrash0007Test.class, "crash-0007.hsc").frame(22);
        // this: Cases {count = 1, name = "failure"}
        Cases cases = frame.receiver();
        cases.exit();
    }
}

// Reproduces a recorded crash:
//
// java.lang.NullPointerException: Cannot invoke "String.toUpperCase()" because "s" is null
//     at RandomCrash.toUpperCase(RandomCrash.java:10)
//     at RandomCrash.hexAbs(RandomCrash.java:6)
//
// Program version: 1.2 (abc123)
// Recorded 2023-11-14 22:13:32 UTC in thread "main" of Java 17.0.15 (OpenJDK 64-Bit Server VM
//     17.0.15+6).
// Written by hindsight 0.1.0 from crash-0001.hsc.
// Each test calls the method of one stack frame as it was called then.
// It fails while the bug is there, and passes when it is fixed.
import org.junit.jupiter.api.Test;

class RandomCrashCrash0001Test {

    // Frame 0 of the crash: RandomCrash.toUpperCase(RandomCrash.java:10)
    @Test
    void toUpperCase_frame0() throws Exception {
        RandomCrash randomCrash = new RandomCrash();
        randomCrash.toUpperCase(null);
    }

    // Frame 1 of the crash: RandomCrash.hexAbs(RandomCrash.java:6)
    @Test
    void hexAbs_frame1() throws Exception {
        RandomCrash randomCrash = new RandomCrash();
        randomCrash.hexAbs(0);
    }
}

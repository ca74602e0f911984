// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package gates;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ExceptionObservedTest {

    @Test
    void check() throws java.lang.Exception {
        assertEquals(5, new Exception().check(5));
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package gates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class GateObservedTest {

    @Test
    void pass() throws java.lang.Exception {
        Gate gate = new Gate();
        assertEquals(3, gate.pass(3));
        IllegalStateException thrown =
                assertThrows(IllegalStateException.class, () -> gate.pass(0));
        assertEquals("shut", thrown.getMessage());
        assertThrows(java.lang.Exception.class, () -> gate.pass(-1));
        assertEquals(7, gate.pass(4));
    }
}

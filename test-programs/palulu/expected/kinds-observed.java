// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class HoardObservedTest {

    @Test
    void keep() {
        assertEquals(2, new Hoard().keep(2));
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import kinds.low.Grader;
import org.junit.jupiter.api.Test;

@SuppressWarnings("rawtypes")
class HolderObservedTest {

    @Test
    void get() {
        Holder holder = new Grader().grade();
        assertEquals("GOOD", ((Enum<?>) holder.get()).name());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class JobObservedTest {

    @Test
    void step() {
        Job job = new Job();
        job.step("dig");
        job.on(x -> {});
        job.step("sow");
        assertEquals("dig;sow;", job.log());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class KindsBladeObservedTest {

    @Test
    void newBlade() {
        assertEquals("blade", new Kinds.Blade().name());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class KindsFirstObservedTest {

    @Test
    void number() {
        assertEquals(1, Kinds.First.ONE.number());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import javax.lang.model.element.Modifier;
import org.junit.jupiter.api.Test;

class KindsObservedTest {

    @Test
    void kindThenFilled() {
        Kinds kinds = new Kinds();
        assertEquals("text 1", kinds.kind((CharSequence) "ab"));
        assertEquals("word 2", kinds.kind("ab"));
        assertEquals("value 3", kinds.kind((Object) "ab"));
        assertEquals("comparable 4", kinds.kind((Comparable<?>) "ab"));
        assertEquals("number 5", kinds.kind((Number) Integer.valueOf(1)));
        assertEquals("value 6", kinds.kind((Object) Integer.valueOf(1)));
        assertEquals(Double.NaN, kinds.ratio(0.0, 0.0));
        assertEquals(0.5, kinds.ratio(1.0, 2.0));
        assertArrayEquals(new Object[] {"a"}, kinds.same(new String[] {"a"}));
        assertEquals(8, kinds.rank(Modifier.FINAL));
        assertEquals(6, kinds.calls());
        assertEquals("of []", kinds.filled((Supplier<List<String>>) ArrayList::new));
    }

    @Test
    void kind() {
        Kinds kinds = new Kinds();
        assertEquals("kinds.Kinds.place(Kinds.java:205)", kinds.place());
        assertEquals("word 1", kinds.kind("again"));
        assertEquals(1, kinds.calls());
    }

    @Test
    void addThenGet() {
        Kinds kinds = new Kinds()
                .add(new Kinds.Part("part 0"))
                .add(new Kinds.Part("part 1"))
                .add(new Kinds.Part("part 2"));
        Kinds.Part part = new Kinds.Part("part 3");
        List<Kinds.Part> list = kinds.add(part)
                .add(new Kinds.Part("part 4"))
                .add(new Kinds.Part("part 5"))
                .add(new Kinds.Part("part 6"))
                .add(new Kinds.Part("part 7"))
                .add(new Kinds.Part("part 8"))
                .add(new Kinds.Part("part 9"))
                .add(new Kinds.Part("part 10"))
                .add(new Kinds.Part("part 11"))
                .parts();
        assertEquals(12, list.size());
        assertSame(part, list.get(3));
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

class KindsPartObservedTest {

    @Test
    void add() {
        Kinds kinds = new Kinds();
        Kinds.Part part = new Kinds.Part("part 3");
        assertSame(kinds, kinds.add(part));
        assertEquals("part 3", part.name());
        assertEquals(1, part.use());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

class KindsSinkObservedTest {

    @Test
    void write() {
        Kinds.Sink sink = new Kinds().sink();
        assertSame(sink, sink.write("to and"));
        assertEquals("to and", ((Kinds.Source) sink).read());
        assertSame(sink, sink.write(" fro"));
        assertEquals("to and fro", ((Kinds.Source) sink).read());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class KindsToneWordObservedTest {

    @Test
    void loud() {
        assertEquals("so!", Kinds.Tone.HIGH.new Word("so").loud());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class KindsToolObservedTest {

    @Test
    void calls1() {
        ArrayList<Kinds.Part> parts = new ArrayList<>();
        parts.add(new Kinds.Blade());
        assertEquals("blade", new Kinds.Tool(parts)._1());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class NetObservedTest {

    @Test
    void namedThenLink() throws Exception {
        Net<String, Net.Wire> net = new Net<>(Net.Wire.class);
        assertSame(net, net.named("k"));
        assertNotNull(net.link("a", "b"));
        assertEquals(2, net.ends());
        Optional<String> optional = net.name();
        assertEquals("Optional[k]", optional.toString());
    }
}
// Pins down what the program does:
// Written by hindsight 0.1.0 from recorded runs (out). A test that fails shows what has
//     changed since.
package kinds;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class NetWireObservedTest {

    @Test
    void link() throws Exception {
        Net<String, Net.Wire> net = new Net<>(Net.Wire.class);
        Net.Wire wire = net.link("a", "b");
        assertEquals(3, wire.length());
    }
}

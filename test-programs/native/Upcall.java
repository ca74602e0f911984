import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Has C sort numbers by a method that throws: no Java method is left to throw on to, and the JVM ends. */
public class Upcall {
    static int compare(MemorySegment one, MemorySegment other) {
        return key(one.get(ValueLayout.JAVA_INT, 0), 3) - key(other.get(ValueLayout.JAVA_INT, 0), 3);
    }

    static int key(int value, int base) {
        return 100 / (value - base);
    }

    public static void main(String[] args) throws Throwable {
        Linker linker = Linker.nativeLinker();
        try (Arena arena = Arena.ofConfined()) {
            MethodHandle sort = linker.downcallHandle(
                    linker.defaultLookup().find("qsort").get(),
                    FunctionDescriptor.ofVoid(
                            ValueLayout.ADDRESS,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.ADDRESS));
            var number = ValueLayout.ADDRESS.withTargetLayout(ValueLayout.JAVA_INT);
            MethodHandle compare = MethodHandles.lookup()
                    .findStatic(
                            Upcall.class,
                            "compare",
                            MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class));
            MemorySegment numbers = arena.allocateFrom(ValueLayout.JAVA_INT, 5, 1, 9, 3);
            MemorySegment stub = linker.upcallStub(
                    compare, FunctionDescriptor.of(ValueLayout.JAVA_INT, number, number), arena);
            sort.invokeExact(numbers, 4L, 4L, stub);
        }
    }
}

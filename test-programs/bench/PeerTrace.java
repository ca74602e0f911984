import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.AdviceAdapter;

/**
 * What a recorder of calls costs that is written as most are: ASM puts a call at each entry and exit, and
 * each thread has a buffered stream of its own. An event is a byte and the number of the method, with no
 * time, no identities and no values.
 *
 * <p>{@code PeerTrace DIRECTORY CLASS ARGUMENTS...} runs the main method of a class, whose package is
 * loaded with such calls in it.
 */
public class PeerTrace {
    static Path directory;
    static int methods;

    static final ThreadLocal<DataOutputStream> OUT = ThreadLocal.withInitial(() -> {
        String name = Thread.currentThread().getId() + ".events";
        try {
            return new DataOutputStream(
                    new BufferedOutputStream(new FileOutputStream(directory.resolve(name).toFile()), 1 << 16));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    });

    public static void event(int kind, int method) {
        try {
            DataOutputStream out = OUT.get();
            out.writeByte(kind);
            out.writeInt(method);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        directory = Path.of(args[0]);
        String main = args[1];
        ClassLoader loader = new ClassLoader(PeerTrace.class.getClassLoader()) {
            @Override
            protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                if (!name.equals(main) && !name.startsWith(main + "$")) {
                    return super.loadClass(name, resolve);
                }
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                    byte[] traced = trace(in.readAllBytes());
                    return defineClass(name, traced, 0, traced.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        };
        String[] rest = java.util.Arrays.copyOfRange(args, 2, args.length);
        loader.loadClass(main).getMethod("main", String[].class).invoke(null, (Object) rest);
        OUT.get().flush();
    }

    static byte[] trace(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String type, String signature, String[] thrown) {
                MethodVisitor to = super.visitMethod(access, name, type, signature, thrown);
                int method = methods++;
                return new AdviceAdapter(Opcodes.ASM9, to, access, name, type) {
                    @Override
                    protected void onMethodEnter() {
                        call(1);
                    }

                    @Override
                    protected void onMethodExit(int opcode) {
                        call(2);
                    }

                    private void call(int kind) {
                        push(kind);
                        push(method);
                        super.visitMethodInsn(INVOKESTATIC, "PeerTrace", "event", "(II)V", false);
                    }
                };
            }
        }, ClassReader.EXPAND_FRAMES);
        return writer.toByteArray();
    }
}

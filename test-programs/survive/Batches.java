import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the driver sends: groups of classes that belong together, first as they were, then rewritten
 * by each plan. The driver's side is {@code src/bin/survive/harness.rs}.
 */
final class Batches {
    /** A class as it was. */
    static final class Original {
        String name;
        byte[] bytes;
        /** Whether it is to be checked, and not there for the others only. */
        boolean check;
        /** What the driver has read in it; see {@link Dump}. */
        long dump;
    }

    /** Classes of one jar. */
    static final class Group {
        String name;
        /** The jar's file, where further classes may be found. */
        String jar;
        final List<Original> classes = new ArrayList<>();
        final Map<String, Original> byName = new HashMap<>();
        /** How names are used that the group does not have: the bits of {@link Stubs}. */
        final Map<String, Integer> uses = new HashMap<>();
    }

    /** What is done with the classes; answers are printed as lines with tabs. */
    interface Harness {
        void begin(Group group) throws IOException;

        void plan(Group group, String plan, Map<String, byte[]> rewritten) throws IOException;
    }

    private Batches() {}

    static void serve(Harness harness) throws IOException {
        // What classes print while they are looked at must not get between the answers.
        PrintStream answers = System.out;
        System.setOut(System.err);
        var in = new DataInputStream(new BufferedInputStream(System.in, 1 << 20));
        Group group = null;
        while (true) {
            int kind = in.read();
            if (kind < 0) {
                return;
            }
            switch (kind) {
                case 'G' -> {
                    group = group(in);
                    harness.begin(group);
                }
                case 'P' -> {
                    String plan = in.readUTF();
                    Map<String, byte[]> rewritten = new HashMap<>();
                    for (int left = in.readInt(); left > 0; left--) {
                        Original original = group.classes.get(in.readInt());
                        rewritten.put(original.name, in.readNBytes(in.readInt()));
                    }
                    harness.plan(group, plan, rewritten);
                }
                default -> throw new IOException("unknown message " + kind);
            }
            answers.println("done");
            answers.flush();
        }
    }

    private static Group group(DataInputStream in) throws IOException {
        Group group = new Group();
        group.name = in.readUTF();
        group.jar = in.readUTF();
        for (int left = in.readInt(); left > 0; left--) {
            Original original = new Original();
            original.name = in.readUTF();
            original.check = in.readBoolean();
            original.dump = in.readLong();
            original.bytes = in.readNBytes(in.readInt());
            group.classes.add(original);
            group.byName.put(original.name, original);
        }
        for (int left = in.readInt(); left > 0; left--) {
            group.uses.put(in.readUTF(), in.read());
        }
        return group;
    }

    /** Text without tabs and line ends, not too long. */
    static String oneLine(String text) {
        String line = text == null ? "" : text.strip().replaceAll("\\s+", " ");
        return line.length() > 600 ? line.substring(0, 600) : line;
    }
}

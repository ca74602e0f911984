package elsewhere;

import java.io.File;
import java.text.DateFormat;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.TimeZone;
import java.util.concurrent.ThreadLocalRandom;

/** What is one thing here and another one there, and what is not. */
public class Place {
    private static int made;

    private final long since = System.currentTimeMillis();
    private final List<String> notes = new ArrayList<>();

    public Place() {
        made++;
    }

    public String directory() {
        return new File("x").getAbsolutePath();
    }

    public long age() {
        return System.currentTimeMillis() - since;
    }

    public int year() {
        return LocalDate.now().getYear();
    }

    public long today() {
        return new Date().getTime() / 86_400_000;
    }

    public String zone() {
        return TimeZone.getDefault().getID();
    }

    public String words() {
        return String.format(Locale.getDefault(), "%,.2f", 1234.5);
    }

    /** With a space that is another one from JDK 20 on. */
    public String hour() {
        return DateFormat.getTimeInstance(DateFormat.SHORT, Locale.US).format(new Date(0));
    }

    public int bytes() {
        return "\u00e9".getBytes().length;
    }

    /** Not for others to know; Cargo sets it where it runs tests. */
    public String password() {
        return System.getenv("CARGO_MANIFEST_DIR");
    }

    public String path() {
        return System.getenv("PATH");
    }

    public boolean colours() {
        return System.getenv("TERM") != null;
    }

    public int processors() {
        return Runtime.getRuntime().availableProcessors();
    }

    public boolean coin() {
        return new Random().nextInt(2) == 0;
    }

    public int dice() {
        return ThreadLocalRandom.current().nextInt(2);
    }

    /** As long as a hash code has digits. */
    public int width() {
        return toString().length();
    }

    /** The first by hash code. */
    public boolean eldest() {
        Object[] made = {new Object(), new Object(), new Object(), new Object()};
        return new HashSet<>(List.of(made)).iterator().next() == made[0];
    }

    /** Of two by hash code: one comes first every other time. */
    public boolean elder() {
        Object[] made = {new Object(), new Object()};
        return new HashSet<>(List.of(made)).iterator().next() == made[0];
    }

    public boolean first() {
        return made == 1;
    }

    public void note(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("nothing to note");
        }
        notes.add(text);
    }

    public List<String> notes() {
        return notes;
    }

    public class Corner {
        public int count() {
            return notes.size();
        }
    }

    public Corner corner(Corner other) {
        return other;
    }

    /** Changes nothing, as far as objects go. */
    public int vanish() {
        new File("/gone").delete();
        return 0;
    }

    @Deprecated
    public int old() {
        return 7;
    }

    public static void main(String[] args) {
        Place place = new Place();
        place.note("one");
        place.note("two");
        System.out.println(place.notes() + " " + place.new Corner().count() + place.old());
        System.out.println(place.hour() + " " + place.bytes());
        Place other = new Place();
        System.out.println(other.password() + other.path() + other.colours() + other.old());
    }
}

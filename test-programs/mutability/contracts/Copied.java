import java.util.ArrayList;
import java.util.BitSet;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

// Copies are not what they were made of, and lead to the same.
class Copied {
    int value;

    static Date later(Date d) { Date e = (Date) d.clone(); e.setTime(3); return e; } // expect d: immutable
    static BitSet more(BitSet s) { BitSet t = (BitSet) s.clone(); t.set(3); return t; } // expect s: immutable
    static int year(Calendar c) { Calendar d = (Calendar) c.clone(); d.set(1, 2); return d.get(1); } // expect c: immutable
    static void copied(EnumSet<Thread.State> s) { EnumSet<Thread.State> t = EnumSet.copyOf(s); t.clear(); } // expect s: immutable
    static void copiedAny(Collection<Thread.State> s) { EnumSet<Thread.State> t = EnumSet.copyOf(s); t.clear(); } // expect s: immutable
    static void cloned(EnumSet<Thread.State> s) { EnumSet<Thread.State> t = s.clone(); t.clear(); } // expect s: immutable
    static void rest(EnumSet<Thread.State> s) { EnumSet<Thread.State> t = EnumSet.complementOf(s); t.clear(); } // expect s: immutable
    static void list(ArrayList<Copied> l) { ((List<?>) l.clone()).clear(); } // expect l: immutable
    @SuppressWarnings("unchecked")
    static void listAndPoke(ArrayList<Copied> l) { ((List<Copied>) l.clone()).get(0).value = 1; } // expect l: mutable
    static void map(HashMap<String, Copied> m) { ((Map<?, ?>) m.clone()).clear(); } // expect m: immutable
    @SuppressWarnings("unchecked")
    static void mapAndPoke(HashMap<String, List<Copied>> m) { ((Map<String, List<Copied>>) m.clone()).get("").add(null); } // expect m: mutable
    static void ofMade(Copied c) { EnumMap<Thread.State, Copied> m = new EnumMap<>(Thread.State.class); m.put(Thread.State.NEW, c); m.clone().get(Thread.State.NEW).value = 1; } // expect c: mutable
}

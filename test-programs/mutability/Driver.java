import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;

/** Calls everything here, for recorded runs and for the interpreter. Prints nothing of its own. */
public class Driver {
    private static Cell chain(int length) {
        Cell first = null;
        for (int i = length; i > 0; i--) {
            Cell cell = new Cell();
            cell.value = i;
            cell.next = first;
            first = cell;
        }
        return first;
    }

    private static Cell[] cells() {
        return new Cell[] {chain(2), chain(2)};
    }

    private static List<Cell> list() {
        List<Cell> list = new ArrayList<>();
        list.add(chain(2));
        list.add(chain(3));
        return list;
    }

    private static Map<String, Cell> map() {
        Map<String, Cell> map = new HashMap<>();
        map.put("k", chain(2));
        return map;
    }

    private static void cell() {
        chain(2).get();
        chain(2).set(1);
        chain(2).self();
        chain(2).link(chain(1));
        chain(2).setNext(3);
        chain(2).copy();
        chain(3).sum();
        chain(3).clear();
    }

    private static void basics() {
        Basics.readDeep(chain(4));
        Basics.writeDeep(chain(4));
        Basics.viaLocal(chain(1));
        Basics.viaGetter(chain(1));
        Basics.reassigned(chain(1));
        Basics.fresh(chain(1));
        Basics.throughFresh(chain(1));
        Basics.index(new int[5], chain(1));
        Basics.oneOf(chain(1), chain(1), true);
        Basics.oneOf(chain(1), chain(1), false);
        Basics.compare(chain(1), chain(1));
        Basics.swap(chain(1), chain(2));
        Basics.choose(chain(1), chain(1));
        Basics.writeChosen(chain(1), chain(1));
        Cell zero = new Cell();
        Basics.writeChosen(zero, chain(1));
        Basics.copied(chain(1));
        Basics.copiedDeep(chain(2));
        Basics.setter(chain(1));
        Basics.nextSetter(chain(2));
        Basics.freshSetter(chain(1));
        Basics.linked(chain(1), chain(1));
        Basics.linkedAndWritten(chain(1), chain(1));
        Basics.freshLinked(chain(1));
        Basics.aliased(chain(2), chain(2), chain(1));
        Cell same = chain(2);
        Basics.aliased(same, same, chain(1));

        Basics.sum(new int[] {1, 2});
        Basics.zero(new int[] {1, 2});
        Basics.put(new Object[1], chain(1));
        Basics.element(cells());
        Basics.readElement(cells());
        Basics.matrix(new int[1][2]);
        Basics.copyOf(new int[] {1});
        Basics.copyInto(new int[] {1}, new int[1]);
        Basics.cloned(new int[] {1});
        Basics.clonedElements(cells());
        Basics.copiedElements(cells());
        Basics.callsVarargs(chain(1), chain(1));
        Basics.callsClearAll(chain(1), chain(1));

        Basics.keep(chain(1));
        Basics.keepAndWrite(chain(1));
        Cell.shared = chain(1);
        Basics.writeStatic(chain(1));
        Basics.writeStatic(Cell.shared);

        Basics.depth(chain(3));
        Basics.wipe(chain(3));
        Basics.even(chain(3));
        Basics.ping(chain(9), 3);
        Basics.turns(chain(1), chain(1), 5);
        Basics.innermost(chain(1), 3);
        Basics.writeLast(chain(3));

        try {
            Basics.fail(chain(1));
        } catch (RuntimeException expected) {
            chain(1);
        }
        Basics.caught(chain(1));
        Basics.caughtHere(chain(1));
        Basics.rethrown(new Basics.Marked());
        Basics.finallyReads(chain(1));
        Basics.finallyWrites(chain(1));
    }

    private static void figures() {
        Figure51 figure = new Figure51();
        C one = new C();
        one.next = new C();
        C other = new C();
        figure.modifyAll(one, other, new C(), true);
        C both = new C();
        figure.modifyAll(both, both, new C(), true);
        figure.doNotModifyAnyParam2(new C());
        new Figure55().m(new Object());
        new Figure56().n();
        Figure57.C inner = new Figure57.C(new Figure57.B(new Figure57()));
        new Figure57().n(new Figure57.B(new Figure57()), inner);
    }

    private static void objects() throws Exception {
        Shape.moveAll(new Shape[] {new Square(), new Fixed()});
        Shape.areaOf(new Square());
        Shape.areaOf(new Fixed());
        Objects.useSink(new CellSink(), chain(1));
        Objects.useCellSink(chain(1));
        Box.poke(new Box<>(chain(1)));
        Box.peek(new Box<>(chain(1)));
        Box.pokeNew(chain(1));
        Box.peekNew(chain(1));
        Pair pair = new Pair(chain(1), chain(1));
        pair.sum();
        pair.pokeLeft();
        Pair.pokeRight(new Pair(chain(1), chain(1)));
        Pair.read(new Pair(chain(1), chain(1)));
        Pair.made(chain(1), chain(1));
        Pair.madeAndPoked(chain(1), chain(1));
        Point.cloned(new Point());
        Point point = new Point();
        point.cell = chain(1);
        Point.clonedDeep(point);
        new Objects().pokeInner();
        new Objects().peekInner();
        Cell run = chain(1);
        Objects.run(Objects.later(run));
        Objects.now(chain(1));
        Objects.readNow(chain(1));
        Objects.given(chain(1));
        Objects.applied(chain(1));
        Objects.reference(chain(2));
        Objects.readReference(chain(2));
        Objects.constructor(chain(1));
        Objects.anonymous(chain(1));
        Objects.anonymousRead(chain(1));
        Objects.reflect(chain(1));
        Objects.readReflect(chain(1));
        Objects.text(chain(1));
        Objects.append(new StringBuilder(), chain(1));
        Objects.length(new StringBuilder());
        Objects.build(chain(1));
        Objects.date(new java.util.Date(1));
        Objects.newDate(chain(1));
        Objects.same(chain(1), chain(1));
        Objects.locked(chain(1));
    }

    private static void collections() {
        Collections.size(list());
        Collections.add(list(), chain(1));
        Collections.first(list());
        Collections.pokeFirst(list());
        Collections.total(list());
        Collections.pokeAll(list());
        Collections.removeAll(list());
        Collections.step(list().iterator());
        Collections.more(list().iterator());
        Collections.wrap(chain(1));
        Collections.wrapAndPoke(chain(1));
        Collections.wrapAndClear(chain(1));
        Collections.copy(list());
        Collections.copyAndAdd(list());
        Collections.copyAndPoke(list());
        Collections.look(map(), "k");
        Collections.pokeLook(map(), "k");
        Collections.put(map(), chain(1));
        Collections.keys(map());
        Collections.entries(map());
        Collections.pokeEntries(map());
        Collections.clearValues(map());
        Collections.has(new HashSet<>(list()), chain(1));
        Collection<Cell> all = list();
        Collections.index(all);
        Collections.sort(list());
        Collections.each(list());
        Collections.eachPassed(list());
        Collections.eachRead(list());
        Collections.eachInto(list(), list());
        Collections.streamed(list());
        Collections.mapped(list());
        Collections.streamPoke(list());
        Collections.unmodifiable(list());
        Collections.shuffle(list());
        Collections.fill(new int[2]);
        Collections.sorted(new int[] {2, 1});
        Collections.hash(new int[2]);
        Collections.asList(chain(1));
        Collections.pokeAsList(chain(1));
    }

    public static void main(String[] args) throws Exception {
        cell();
        basics();
        figures();
        objects();
        collections();
    }
}

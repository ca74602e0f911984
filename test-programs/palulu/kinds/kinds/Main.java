package kinds;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import javax.lang.model.element.Modifier;
import kinds.low.Grader;

public class Main {
    public static void main(String[] arguments) throws ReflectiveOperationException {
        Kinds kinds = new Kinds();
        System.out.println(kinds.kind((CharSequence) "ab") + kinds.kind("ab") + kinds.kind((Object) "ab")
                + kinds.kind((Comparable<?>) "ab") + kinds.kind((Number) 1) + kinds.kind((Object) 1));
        System.out.println(kinds.ratio(0, 0) + kinds.ratio(1, 2) + kinds.same(new String[] {"a"})[0]);
        System.out.println(kinds.rank(Modifier.FINAL) + " " + kinds.calls());
        System.out.println(kinds.filled((Supplier<List<String>>) ArrayList::new));

        Kinds elsewhere = new Kinds();
        System.out.println(elsewhere.thread() + elsewhere.user() + elsewhere.system() + elsewhere.memory() + elsewhere.place()
                + elsewhere.password() + elsewhere.coin());
        elsewhere.kind("again");
        System.out.println(elsewhere.coin() + elsewhere.sides() + elsewhere.calls());

        Kinds several = new Kinds();
        for (int i = 0; i < 12; i++) {
            several.add(new Kinds.Part("part " + i));
        }
        List<Kinds.Part> parts = several.parts();
        System.out.println(parts.size() + parts.get(3).name() + parts.get(3).use());

        List<Kinds.Part> mixed = new ArrayList<>();
        mixed.add(new Kinds.Blade());
        mixed.add(new Kinds.Part("handle"));
        System.out.println(new Kinds.Tool(mixed)._1());

        System.out.println(Kinds.First.ONE.number() + Kinds.Second.HEAD.size());
        Kinds.Sink sink = new Kinds().sink();
        sink.write("to and");
        System.out.println(((Kinds.Source) sink).read());
        sink.write(" fro");
        System.out.println(((Kinds.Source) sink).read() + Kinds.Tone.HIGH.new Word("so").loud());

        Job job = new Job();
        job.step("dig");
        System.out.println(job.id().isEmpty());
        job.on(name -> System.out.println("now " + name));
        job.step("sow");
        System.out.println(job.log());

        Hoard hoard = new Hoard();
        System.out.println(hoard.keep(2));
        try {
            hoard.keep(Integer.MAX_VALUE);
        } catch (OutOfMemoryError e) {
            System.out.println(hoard.keep(1));
        }

        Net<String, Net.Wire> net = new Net<String, Net.Wire>(Net.Wire.class).named("k");
        System.out.println(net.link("a", "b").length() + net.ends() + net.name().toString());
        System.out.println(new Grader().grade().get());
    }
}

package boxes;

import java.util.HashMap;

/** Goes through a box, and gives another one a label that no test knows. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Box<String> box = new Box<>();
        box.put("pen");
        box.put("ink");
        StringBuilder all = new StringBuilder();
        for (String thing : box) {
            all.append(thing);
        }
        box.put("cap");
        System.out.println(all.append(box.size()));

        Box<String> named = new Box<>();
        named.put("nib");
        System.setProperty("boxes.label", "red");
        System.out.println(named.size() + named.label());
        named.put("pad");

        Pile<Integer> pile = new Pile<>();
        pile.push(4);
        pile.merge(new HashMap<>());
        System.out.println(pile.height());
        System.out.println(Pile.count("none", (Object[]) null));
        System.out.println(Pile.count("one", "x"));
    }
}

package bazaar;

import java.util.AbstractList;
import java.util.List;

/** Has elements of a class that no source elsewhere can name, and that only a list's method gives away. */
public interface Shelf extends List<Ware> {
    static Shelf of(String... names) {
        return new Wares(names);
    }
}

class Wares extends AbstractList<Ware> implements Shelf {
    private final Ware[] wares;

    Wares(String[] names) {
        wares = new Ware[names.length];
        for (int i = 0; i < names.length; i++) {
            wares[i] = new Named(names[i]);
        }
    }

    @Override
    public Ware get(int place) {
        return wares[place];
    }

    @Override
    public int size() {
        return wares.length;
    }
}

class Named implements Ware {
    private final String name;

    Named(String name) {
        this.name = name;
    }

    @Override
    public String name() {
        return name;
    }
}

import java.lang.reflect.Proxy;

// Where a program makes proxies, no class file has what a call of an interface runs. For proofs.
class Proxies {
    int value;

    interface Look {
        void at(Proxies p);
    }

    static class Glance implements Look {
        int seen;
        @Override public void at(Proxies p) { seen = p.value; } // expect this: mutable, p: immutable
    }

    static Look made() {
        Class<?>[] all = {Look.class};
        return (Look) Proxy.newProxyInstance(Look.class.getClassLoader(), all, (proxy, method, arguments) -> {
            ((Proxies) arguments[0]).value = 1;
            return null;
        });
    }

    static Proxies held;

    static Object asked() {
        Class<?>[] all = {Runnable.class};
        return Proxy.newProxyInstance(Look.class.getClassLoader(), all, (proxy, method, arguments) -> {
            held.value = 1;
            return "asked";
        });
    }

    static void text(Proxies p, Object key) { held = p; key.toString(); } // expect p: mutable
    static void textByTheLibrary(Proxies p, Object key) { held = p; String.valueOf(key); } // expect p: mutable
    static void look(Look l, Proxies p) { l.at(p); } // expect p: mutable
    static void glance(Glance g, Proxies p) { g.at(p); } // expect g: mutable, p: immutable
}

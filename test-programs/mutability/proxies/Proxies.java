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

    static void look(Look l, Proxies p) { l.at(p); } // expect p: mutable
    static void glance(Glance g, Proxies p) { g.at(p); } // expect g: mutable, p: immutable
}

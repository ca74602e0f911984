/** Advice of every kind, for the classes that the AspectJ compiler weaves it into. */
public aspect Woven {
    pointcut methods(): execution(* org.apache..*(..)) && !cflow(adviceexecution());

    before(): methods() && args(int, ..) {
        count++;
    }

    Object around(): execution(String org.apache..*(..)) {
        return proceed();
    }

    before(Object target): set(* org.apache..*) && target(target) {
        last = target;
    }

    after() returning(Object result): methods() {
        last = result;
    }

    after() throwing(RuntimeException thrown): methods() {
        last = thrown;
    }

    declare parents: org.apache.commons.lang3.builder.* implements java.io.Serializable;

    public int org.apache.commons.lang3.builder.ToStringStyle.woven = 1;

    static int count;
    static Object last;
}

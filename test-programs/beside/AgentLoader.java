package io.opentelemetry.javaagent.test;

/** The loader that an agent has for what it brings with it. */
public class AgentLoader extends ClassLoader {
    public AgentLoader() {
        super(null);
    }

    public Class<?> define(String name, byte[] bytes) {
        return defineClass(name, bytes, 0, bytes.length);
    }
}

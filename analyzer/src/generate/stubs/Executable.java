package org.junit.jupiter.api.function;

/** Stands in for JUnit's while tests are tried out. */
public interface Executable {
    void execute() throws Throwable;
}

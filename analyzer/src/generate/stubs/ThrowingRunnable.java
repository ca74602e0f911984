package org.junit.function;

/** Stands in for JUnit's while tests are tried out. */
public interface ThrowingRunnable {
    void run() throws Throwable;
}

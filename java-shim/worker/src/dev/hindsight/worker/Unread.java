package dev.hindsight.worker;

import java.io.InputStream;

/**
 * The standard input during a test, which must not be read. A test runner may use it for something
 * else, as Surefire does for its commands, and a test that reads it would wait there for ever.
 */
final class Unread extends InputStream {
    @Override
    public int read() {
        throw Guard.blocked("reading System.in");
    }

    @Override
    public int read(byte[] bytes, int from, int length) {
        throw Guard.blocked("reading System.in");
    }

    @Override
    public long skip(long count) {
        throw Guard.blocked("reading System.in");
    }

    @Override
    public int available() {
        throw Guard.blocked("asking System.in");
    }

    @Override
    public void close() {
        throw Guard.blocked("closing System.in");
    }
}

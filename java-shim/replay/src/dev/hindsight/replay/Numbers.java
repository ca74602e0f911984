package dev.hindsight.replay;

import java.util.Arrays;

/** A growing list of object numbers; -1 stands for null. */
final class Numbers {
    private int[] items = new int[8];
    private int size;

    void add(int number) {
        if (size == items.length) {
            items = Arrays.copyOf(items, 2 * size);
        }
        items[size++] = number;
    }

    int size() {
        return size;
    }

    int get(int index) {
        return items[index];
    }

    void set(int index, int number) {
        items[index] = number;
    }

    int pop() {
        return items[--size];
    }

    /** Empties it; returns this. */
    Numbers clear() {
        size = 0;
        return this;
    }

    int[] toArray() {
        return Arrays.copyOf(items, size);
    }
}

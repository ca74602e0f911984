import java.util.Objects;

/** Java 25: statements before {@code super(...)}, qualified enum constants in pattern switches. */
class Latest {
    static class Base {
        final int size;

        Base(int size) {
            this.size = 100 / size;
        }
    }

    static class Checked extends Base {
        final String name;

        Checked(String name, int size) {
            Objects.requireNonNull(name);
            this.name = name;
            for (int i = 0; i < 3; i++) {
                size += i;
            }
            if (size < 0) {
                throw new IllegalStateException("size " + size);
            }
            super(size);
            name = name.substring(1);
        }

        Checked(int size) {
            try {
                size = 10 / size;
            } catch (ArithmeticException e) {
                size = -9;
            }
            this("checked", size);
        }
    }

    public static Object prologueNull() {
        return new Checked(null, 1);
    }

    public static Object prologueThrows() {
        return new Checked("a", -8);
    }

    public static Object superThrows() {
        return new Checked("a", -3);
    }

    public static Object afterSuperThrows() {
        return new Checked("", 1);
    }

    public static Object tryBeforeThis() {
        return new Checked(0);
    }

    sealed interface Kind permits Color, Size {}

    enum Color implements Kind { RED, GREEN }

    enum Size implements Kind { SMALL, LARGE }

    static int of(Kind kind, int by) {
        by--;
        return switch (kind) {
            case Color.RED -> 1 / by;
            case Color.GREEN -> 2;
            case Size.SMALL -> throw new IllegalStateException("small");
            case Size.LARGE -> by;
        };
    }

    public static Object qualifiedEnumConstants() {
        return of(Color.GREEN, 5) + of(Size.LARGE, 5) + of(Color.RED, 1);
    }

    public static Object qualifiedEnumConstantThrows() {
        return of(Size.SMALL, 5);
    }
}

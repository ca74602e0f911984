/** Nests lambdas and an anonymous class, and forgets the result of the outer lambda. */
class Input {
    interface Convert {
        String apply(String s);
    }

    interface Stream {
        void map(Convert convert);
    }

    void run(Stream stream) {
        stream.map(a -> {
            stream.map(b -> {
                return null;
            });
            stream.map(new Convert() {
                public String apply(String s) {
                    return null;
                }
            });
            class Local {}
        });
    }
}

/**
 * A crash of four frames, each of which takes a strategy more than the one above it: whether it
 * happens again depends on what a callee has changed, ever deeper down.
 */
public class Strategies {
    static class Leaf {
        int left = 1;
    }

    static class Branch {
        Leaf leaf = new Leaf();
    }

    static class Tree {
        Branch[] branches = {new Branch()};
    }

    /** Reproduces with the reference alone: its argument has not changed. */
    static void reference(String name) {
        name.length();
    }

    /** With the fields that it uses. */
    static void fields(Leaf leaf) {
        if (leaf.left > 0) {
            leaf.left = 0;
            reference(null);
        }
    }

    /** With two steps. */
    static void depth(Branch branch) {
        fields(branch.leaf);
    }

    /** With everything. */
    static void deep(Tree tree) {
        depth(tree.branches[0]);
    }

    public static void main(String[] args) {
        deep(new Tree());
    }
}

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Crashes with a graph of about as many objects as its argument says. */
public class Graph {
    static final class Node {
        final int id;
        final String name;
        final List<Node> neighbours = new ArrayList<>();
        double weight;
        Node next;

        Node(int id) {
            this.id = id;
            this.name = "node " + id;
            this.weight = id / 3.0;
        }
    }

    static int crash(Map<Integer, Node> nodes, Node first) {
        return nodes.get(-1).id;
    }

    public static void main(String[] args) {
        int objects = Integer.parseInt(args[0]);
        Map<Integer, Node> nodes = new HashMap<>();
        Node previous = new Node(0);
        // A node is about eight objects: itself, two of its name, two of its list, key and map entry.
        for (int i = 1; i < objects / 7; i++) {
            Node node = new Node(i);
            node.next = previous;
            node.neighbours.add(previous);
            nodes.put(1000 + i, node);
            previous = node;
        }
        crash(nodes, previous);
    }
}

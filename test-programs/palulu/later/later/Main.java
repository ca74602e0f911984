package later;

/** A morning at the desk. */
public class Main {
    public static void main(String[] arguments) throws Exception {
        Desk desk = new Desk();
        desk.answer(3);
        desk.file(2);
        desk.copy(4);
        Thread.sleep(200);
        System.out.println(desk.answered() + " " + desk.filed() + " " + desk.copied() + " " + new Post().send(5));
    }
}

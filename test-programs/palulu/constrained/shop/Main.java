package shop;

/** A day at the fair. */
public class Main {
    public static void main(String[] args) {
        Office office = Office.in("ZRH-8001");
        Ticket day = office.order().kind(Ticket.Kind.DAY).owner("Ann Lee").visits(1).sell();
        Ticket season = office.order().owner("Bob Ray").kind(Ticket.Kind.SEASON).visits(1, 2).sell();
        Door door = new Door();
        door.open("sesame:8");
        door.enter(day);
        door.enter(season);
        try {
            door.enter(day);
        } catch (IllegalStateException e) {
            door.enter(season);
        }
        if (door.visitors() != 3 || day.left() != 0 || season.left() != 1 || office.sold() != 2) {
            throw new AssertionError();
        }
        door.close();
    }
}

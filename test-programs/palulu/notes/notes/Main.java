package notes;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** Looks at all that it gets. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Notes notes = new Notes().add("tea").add("milk");
        int letters = 0;
        for (String line : notes.upper()) {
            letters += line.length();
        }
        List<String> more = new ArrayList<>();
        more.add("rice");
        System.out.println(notes.with(more));
        System.out.println(notes.lengths());
        System.out.println(letters + notes.size());

        Notes whole = new Notes().add("week");
        whole.attach(notes);
        System.out.println(whole.part(0).lengths());
        System.out.println(whole.part(0).upper());
        System.out.println(whole.part(0).size());

        Notes titled = new Notes().add("ink");
        System.out.println(titled.size() + Notes.titled("for today: ", titled));

        Iterator<String> through = new Notes().add("pen").iterator();
        System.out.println(through.next());
        try {
            through.next();
        } catch (NoSuchElementException e) {
            System.out.println(e.getMessage());
        }

        System.out.println(new Notes().add("cup").add("jug").upper());

        List<Label> labels = new ArrayList<>();
        Label red = new Label("red");
        labels.add(red);
        Label blue = new Label("blue");
        labels.add(blue);
        for (Label label : labels) {
            System.out.println(label.text());
        }
    }
}

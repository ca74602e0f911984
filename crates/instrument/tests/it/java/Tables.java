import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;

/** Everything that points into code: lines, variables, their generic types, type annotations. */
class Tables {
    @Retention(RetentionPolicy.RUNTIME)
    @Target(ElementType.TYPE_USE)
    @interface Mark {}

    static String moved(String given, int count) {
        given = given.trim();
        try {
            @Mark List<String> marked = new @Mark ArrayList<>();
            marked.add((@Mark String) given);
            return marked.get(count);
        } catch (@Mark IllegalStateException e) {
            return e.getMessage();
        }
    }
}

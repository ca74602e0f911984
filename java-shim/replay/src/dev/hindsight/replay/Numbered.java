package dev.hindsight.replay;

import dev.hindsight.replay.ClassShape.Method;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds again what compilers have named by a number: methods of lambdas, anonymous and local
 * classes.
 *
 * <p>As soon as something of the kind is inserted before it, the number belongs to another one. So
 * a name may come with its origin, behind characters that names in the JVM cannot contain:
 *
 * <pre>
 *     lambda$keep$0/0/5f3a9c21,77be0012/static
 *     NAME/ORDINAL/CODES/KIND
 * </pre>
 *
 * <p>The origin says to which group the name belonged, and at which place. A group consists of the
 * methods of one class with the same name except the number, descriptor and KIND, {@code static} or
 * {@code instance}; or of classes with the same name except the numbers, and KIND, which stands for
 * what they extend, the method that encloses them, and the values that they capture ({@link
 * ClassShape#kind}). CODES are the {@link ClassShape#digest}s of the whole group; of a very large
 * one, {@code OWN+REST}, its own and one for all others.
 *
 * <p>What has the same code is the same. If its code has changed, the members that have not changed
 * are set aside; if as many are left as there were, their order decides. Else it cannot be
 * determined, which is an error: another one that happens to have the number is never taken for it.
 */
final class Numbered {
    /**
     * A number and what precedes it: a {@code $}, or the mark of one of Groovy's closures or
     * lambdas.
     */
    private static final Pattern NUMBER =
            Pattern.compile("(\\$|\\$_(?:[^$]*_)?(?:closure|lambda)(?=[0-9]+\\b))[0-9]+");
    /** The size of the largest group of which all codes are listed. */
    private static final int MOST = 128;

    private final Map<String, String> origins;
    private final ClassLoader[] loaders;
    private final Map<String, ClassShape> shapes = new HashMap<>();
    private final Map<String, List<Member>> groups = new HashMap<>();
    /** The classes found, with holes for those that cannot be determined. */
    private final Map<String, Object> found = new HashMap<>();

    /** An existing method or class. */
    static final class Member {
        final String name;
        /** A method's descriptor. */
        final String descriptor;
        final String kind;
        private final ClassShape shape;
        private final Method method;

        private Member(ClassShape shape, Method method) {
            this.shape = shape;
            this.method = method;
            name = method == null ? shape.name : method.name;
            descriptor = method == null ? "" : method.descriptor;
            kind = method == null ? ClassShape.hash(shape.kind)
                    : Modifier.isStatic(method.access) ? "static" : "instance";
        }

        private String code() {
            return String.valueOf(method == null ? shape.digest() : shape.digest(method));
        }
    }

    /** The group of a name, as its origin describes it. */
    private static final class Origin {
        final int ordinal;
        /** The codes of the whole group; of a large one, only its own. */
        final List<String> codes;
        /** The code of all others of a large group; else null. */
        final String rest;
        final String kind;

        private Origin(String text) {
            String[] parts = text.split("/");
            String[] large = parts.length == 4 ? parts[2].split("\\+") : parts;
            try {
                ordinal = Integer.parseInt(parts[1]);
                rest = large.length == 2 ? large[1] : null;
                codes = List.of(large[0].split(","));
                kind = parts[3];
                if (ordinal < 0 || rest == null && ordinal >= codes.size()) {
                    throw new NumberFormatException();
                }
            } catch (NumberFormatException | IndexOutOfBoundsException e) {
                throw new ReplayException(text + " says where it is from in a way that this replay "
                        + "library does not know: use the one of the hindsight release that wrote "
                        + "the test", e);
            }
        }

        /** The origin in a text, or null if the text is only a name. */
        static Origin of(String text) {
            return text.indexOf('/') < 0 ? null : new Origin(text);
        }

        /** The member of a group that it is now, or null. */
        Member choose(String name, List<Member> group) {
            String own = codes.get(rest == null ? ordinal : 0);
            List<Member> same = new ArrayList<>();
            for (Member member : group) {
                if (member.code().equals(own)) {
                    if (member.name.equals(name)) {
                        return member;
                    }
                    same.add(member);
                }
            }
            if (!same.isEmpty()) {
                Member there = ordinal < group.size() ? group.get(ordinal) : null;
                return same.contains(there) ? there : same.get(0);
            }
            return rest == null ? left(group) : besides(group);
        }

        /** The remaining member, without those whose code belonged to others. */
        private Member left(List<Member> group) {
            List<Member> left = new ArrayList<>(group);
            int before = 0;
            int gone = 0;
            for (int i = 0; i < codes.size(); i++) {
                String code = codes.get(i);
                Member match = i == ordinal ? null : left.stream()
                        .filter(member -> member.code().equals(code)).findFirst().orElse(null);
                if (match != null) {
                    left.remove(match);
                } else {
                    before += i < ordinal ? 1 : 0;
                    gone++;
                }
            }
            return left.size() == gone ? left.get(before) : null;
        }

        /** The member besides which all others are as they were. */
        private Member besides(List<Member> group) {
            for (Member member : group) {
                if (others(member, group).equals(rest)) {
                    return member;
                }
            }
            return null;
        }
    }

    /**
     * Finds members in the classes of some loaders.
     *
     * @param origins origins by name; for methods by class, name and descriptor, as in {@code
     *     Main.lambda$keep$0(I)V}
     */
    Numbered(Map<String, String> origins, ClassLoader... loaders) {
        this.origins = origins;
        this.loaders = loaders;
    }

    /**
     * Whether a class has a number in its name: it is anonymous or local, or within such a class.
     */
    static boolean isClass(String name) {
        return NUMBER.matcher(name).find() && !name.contains("$$Lambda");
    }

    /** Whether a method has a numbered name, of a lambda or an accessor. */
    static boolean isMethod(String name) {
        boolean generated = name.contains("lambda$") || name.startsWith("$anonfun$")
                || name.startsWith("access$");
        return generated && NUMBER.matcher(name).find();
    }

    /** A name or descriptor without its numbers. */
    static String strip(String name) {
        return name.indexOf('$') < 0 ? name : NUMBER.matcher(name).replaceAll("$1#");
    }

    /**
     * The name that a member has in the source. If an inner class uses a private member, some
     * compilers (scalac) put the class's name before it: {@code pkg$Owner$$rate}.
     */
    static String unexpanded(String owner, String member) {
        int end = member.lastIndexOf("$$");
        return end > 0 && member.startsWith(owner.replace('.', '$')) && end == owner.length()
                ? member.substring(end + 2) : member;
    }

    /** A name without its origin. */
    static String plain(String text) {
        int end = text.indexOf('/');
        return end < 0 ? text : text.substring(0, end);
    }

    /** The recorded method with its origin if that is known, else its name. */
    String known(String owner, String method, String descriptor) {
        return origins.getOrDefault(owner + "." + method + descriptor, method);
    }

    /**
     * The class that a name stands for, not initialised.
     *
     * @param text a name as {@link Class#getName} returns it, perhaps with its origin
     * @throws Hole if the class cannot be determined
     */
    Class<?> type(String text) throws ClassNotFoundException, Hole {
        int dimensions = text.lastIndexOf('[') + 1;
        if (dimensions > 0 && text.charAt(dimensions) == 'L' && isClass(text)) {
            Class<?> element = type(text.substring(dimensions + 1, text.length() - 1));
            return Class.forName(text.substring(0, dimensions + 1) + element.getName() + ";", false,
                    element.getClassLoader());
        } else if (dimensions > 0 || !isClass(text)) {
            return Classes.find(text, loaders);
        }
        String given = origins.getOrDefault(text, text);
        Object known = found.get(given);
        if (known == null) {
            try {
                known = findType(given);
            } catch (Hole hole) {
                known = hole;
            }
            found.put(given, known);
        }
        if (known instanceof Hole) {
            throw (Hole) known;
        }
        return (Class<?>) known;
    }

    private Class<?> findType(String text) throws ClassNotFoundException, Hole {
        String name = plain(text);
        if (Origin.of(text) != null) {
            Member member = member(text);
            return Classes.find(member == null ? name : member.name, loaders);
        }
        try {
            return Classes.find(name, loaders);
        } catch (ClassNotFoundException e) {
            Member member = member(text);
            Class<?> only = member == null ? null : Classes.find(member.name, loaders);
            if (only == null || Classes.ofJdk(only)) {
                throw e;
            }
            return only;
        }
    }

    /** The class that a name stands for; null if class files do not tell. */
    private Member member(String text) throws Hole {
        String name = plain(text);
        List<Member> group = group(name);
        Origin origin = Origin.of(text);
        if (origin == null) {
            return only(name, "", group);
        } else if (group.isEmpty() && outer(name) == null) {
            return null;
        }
        List<Member> alike = alike(group, origin.kind);
        Member chosen = origin.choose(name, alike);
        if (chosen == null) {
            throw untold("class", name, alike.size());
        }
        return chosen;
    }

    /**
     * The method of a class that a name stands for; null if its class file does not tell, so that
     * the name is to be taken as it is.
     *
     * @param text the name, perhaps with its origin
     * @param kind {@code static} or {@code instance}; null if that is not known
     * @throws Hole if the method cannot be determined
     */
    Member method(Class<?> owner, String text, String descriptor, String kind) throws Hole {
        boolean numbered = text.indexOf('/') >= 0 || isMethod(text)
                || NUMBER.matcher(descriptor).find();
        ClassShape shape = numbered ? shape(owner) : null;
        return shape == null ? null : member(shape, text, descriptor, kind);
    }

    private static Member member(ClassShape shape, String text, String descriptor, String kind)
            throws Hole {
        String name = plain(text);
        Origin origin = Origin.of(text);
        List<Member> group = group(shape, name, descriptor);
        if (origin == null) {
            return only(name, descriptor, kind == null ? group : alike(group, kind));
        }
        List<Member> alike = alike(group, origin.kind);
        Member chosen = origin.choose(name, alike);
        if (chosen == null) {
            throw untold("lambda", shape.name + "." + name + descriptor, alike.size());
        }
        return chosen;
    }

    private static Hole untold(String what, String name, int candidates) {
        String there = candidates == 0 ? "there is none of its kind"
                : candidates == 1 ? "there is 1 of its kind, whose code is another"
                : "there are " + candidates + " of its kind, none with its code";
        return new Hole("which " + what + " the recorded " + name + " is cannot be told: " + there
                + "; " + Classes.DIFFERS, true);
    }

    private static Member only(String name, String descriptor, List<Member> group) {
        for (Member member : group) {
            if (member.name.equals(name) && member.descriptor.equals(descriptor)) {
                return member;
            }
        }
        return group.size() == 1 ? group.get(0) : null;
    }

    private static List<Member> alike(List<Member> group, String kind) {
        List<Member> alike = new ArrayList<>(group);
        alike.removeIf(member -> !member.kind.equals(kind));
        return alike;
    }

    /**
     * The present name of a class, with its origin.
     *
     * @param text its recorded name, perhaps already with an origin
     * @return null if it cannot be determined
     */
    String origin(String text) throws Hole {
        Member member = member(text);
        return member == null ? null : origin(member, alike(group(member.name), member.kind));
    }

    /** The present name of a method, likewise. */
    String origin(String owner, String text, String descriptor) throws Hole {
        Member type = isClass(owner) ? member(owner) : null;
        ClassShape shape = shape(type == null ? plain(owner) : type.name);
        Member member = shape == null ? null : member(shape, text, descriptor, null);
        if (member == null) {
            return null;
        }
        return origin(member, alike(group(shape, member.name, member.descriptor), member.kind));
    }

    private static String origin(Member member, List<Member> group) {
        int ordinal = 0;
        while (!group.get(ordinal).name.equals(member.name)) {
            ordinal++;
        }
        List<String> codes = new ArrayList<>();
        if (group.size() <= MOST) {
            group.forEach(one -> codes.add(one.code()));
        } else {
            codes.add(member.code() + "+" + others(member, group));
        }
        return member.name + "/" + ordinal + "/" + String.join(",", codes) + "/" + member.kind;
    }

    private static String others(Member member, List<Member> group) {
        StringBuilder codes = new StringBuilder();
        for (Member other : group) {
            codes.append(other == member || other.name.equals(member.name) ? "" : other.code());
        }
        return ClassShape.hash(codes.toString());
    }

    /** The methods of a class whose name and descriptor agree except for numbers, in order. */
    private static List<Member> group(ClassShape shape, String name, String descriptor) {
        List<Member> group = new ArrayList<>();
        for (Method method : shape.methods) {
            if (strip(method.name).equals(strip(name))
                    && strip(method.descriptor).equals(strip(descriptor))) {
                group.add(new Member(shape, method));
            }
        }
        group.sort((a, b) -> byNumbers(a.name, b.name));
        return group;
    }

    /** The classes whose names agree except for numbers, in order. */
    private List<Member> group(String name) {
        String wanted = strip(name);
        List<Member> known = groups.get(wanted);
        if (known != null) {
            return known;
        }
        Map<String, Member> group = new LinkedHashMap<>();
        Deque<String> todo = new ArrayDeque<>(List.of(name));
        ClassShape outer = outer(name);
        if (outer != null) {
            todo.add(outer.name);
        }
        Set<String> seen = new HashSet<>(todo);
        while (!todo.isEmpty()) {
            ClassShape shape = shape(todo.remove());
            if (shape == null) {
                continue;
            } else if (strip(shape.name).equals(wanted)) {
                group.put(shape.name, new Member(shape, null));
                continue;
            }
            for (String inner : shape.inner) {
                String plain = strip(inner);
                if ((plain.equals(wanted) || wanted.startsWith(plain + "$")) && seen.add(inner)) {
                    todo.add(inner);
                }
            }
        }
        List<Member> sorted = new ArrayList<>(group.values());
        sorted.sort((a, b) -> byNumbers(a.name, b.name));
        groups.put(wanted, sorted);
        return sorted;
    }

    /**
     * The class without a number that encloses a numbered one; null if its class file cannot be
     * read.
     */
    private ClassShape outer(String name) {
        Matcher number = NUMBER.matcher(name);
        int end = number.find() ? number.start() : -1;
        // Some compilers put the name of the method in between.
        for (; end > 0; end = name.lastIndexOf('$', end - 1)) {
            ClassShape shape = shape(name.substring(0, end));
            if (shape != null) {
                return shape;
            }
        }
        return null;
    }

    private ClassShape shape(String name) {
        if (!shapes.containsKey(name)) {
            byte[] bytes = Classes.bytes(name, loaders);
            ClassShape shape = bytes == null ? null : ClassShape.read(bytes, this::shape);
            shapes.put(name, shape == null || !shape.name.equals(name) ? null : shape);
        }
        return shapes.get(name);
    }

    private ClassShape shape(Class<?> type) {
        Function<String, ClassShape> others = this::shape;
        try (InputStream in = Classes.file(type)) {
            return in == null ? null : ClassShape.read(in.readAllBytes(), others);
        } catch (IOException e) {
            return null;
        }
    }

    /** Compares names that differ only in numbers. */
    private static int byNumbers(String a, String b) {
        Matcher left = NUMBER.matcher(a);
        Matcher right = NUMBER.matcher(b);
        while (left.find() && right.find()) {
            String one = left.group();
            String other = right.group();
            int order = one.length() != other.length()
                    ? one.length() - other.length() : one.compareTo(other);
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }
}

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
 * Finds again what compilers have named by a number: methods of lambdas, anonymous and local classes.
 *
 * <p>The number is that of another one as soon as something of the kind is put before it. So a name may
 * come with its origin, behind characters that names of the JVM cannot have:
 *
 * <pre>
 * lambda$keep$0/0/5f3a9c21,77be0012/static
 * NAME/ORDINAL/CODES/KIND
 * </pre>
 *
 * It says of which group the name was one, and where it stood there: methods of one class with the same
 * name but for the number, descriptor and KIND, {@code static} or {@code instance}; or classes with the
 * same name but for the numbers, and KIND, which stands for what they extend, the method that they are
 * in, and the values that they capture ({@link ClassShape#kind}). CODES are the {@link
 * ClassShape#digest}s of the whole group; of a very large one, {@code OWN+REST}, its own and one
 * for all others.
 *
 * <p>What has the same code is the same. Where that has changed, those that have not are set aside; if as
 * many are left as there were, their order tells. Else it cannot be told, which is an error: another
 * one that happens to have the number is never taken for it.
 */
final class Numbered {
    /** A number, and what stands before it: a {@code $}, or the mark of one of Groovy's closures or lambdas. */
    private static final Pattern NUMBER =
            Pattern.compile("(\\$|\\$_(?:[^$]*_)?(?:closure|lambda)(?=[0-9]+\\b))[0-9]+");
    /** Groups whose codes are all told. */
    private static final int MOST = 128;

    private final Map<String, String> origins;
    private final ClassLoader[] loaders;
    private final Map<String, ClassShape> shapes = new HashMap<>();
    private final Map<String, List<Member>> groups = new HashMap<>();
    /** Classes, and holes for those that cannot be told. */
    private final Map<String, Object> found = new HashMap<>();

    /** A method or class that is there. */
    static final class Member {
        final String name;
        /** Of a method. */
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

    /** What a name says of its group. */
    private static final class Origin {
        final int ordinal;
        /** Of the whole group; of a large one its own. */
        final List<String> codes;
        /** For all others of a large group; else null. */
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

        /** Null if the name is just a name. */
        static Origin of(String text) {
            return text.indexOf('/') < 0 ? null : new Origin(text);
        }

        /** Which of a group it is now, or null. */
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

        /** What is left of it without those whose code was another one's. */
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

        /** The one beside which all others are as they were. */
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
     * Finds things in the classes of some loaders.
     *
     * @param origins names with their origins, by names; methods by class, name and descriptor, as in
     *     {@code Main.lambda$keep$0(I)V}
     */
    Numbered(Map<String, String> origins, ClassLoader... loaders) {
        this.origins = origins;
        this.loaders = loaders;
    }

    /** Whether a class has a name with a number: it is anonymous or local, or in one that is. */
    static boolean isClass(String name) {
        return NUMBER.matcher(name).find() && !name.contains("$$Lambda");
    }

    /** Whether a method has the name of a lambda's or an accessor, with a number. */
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
     * The name that a member has in the source. Where an inner class uses a private one, some compilers
     * (scalac) put the class's name before it: {@code pkg$Owner$$rate}.
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

    /** The origin of a method as recorded, if it is known; else its name. */
    String known(String owner, String method, String descriptor) {
        return origins.getOrDefault(owner + "." + method + descriptor, method);
    }

    /**
     * The class that a name stands for, not initialised.
     *
     * @param text a name as {@link Class#getName} gives it, maybe with its origin
     * @throws Hole if it cannot be told which one it is
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
     * The method of a class that a name stands for; null if its class file does not tell, so that the name
     * is to be taken as it is.
     *
     * @param text the name, maybe with its origin
     * @param kind {@code static} or {@code instance}; null if that is not known
     * @throws Hole if it cannot be told which one it is
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
     * The name that a class has here, with its origin.
     *
     * @param text its recorded name, maybe with an origin already
     * @return null if it cannot be told
     */
    String origin(String text) throws Hole {
        Member member = member(text);
        return member == null ? null : origin(member, alike(group(member.name), member.kind));
    }

    /** The name that a method has here, likewise. */
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

    /** The methods of a class with this name and descriptor but for numbers, in their order. */
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

    /** The classes with this name but for numbers, in their order. */
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

    /** The class without a number that a numbered one is in; null if its class file cannot be read. */
    private ClassShape outer(String name) {
        Matcher number = NUMBER.matcher(name);
        int end = number.find() ? number.start() : -1;
        // Some compilers put the name of the method between.
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

    /** Compares names that are the same but for numbers. */
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

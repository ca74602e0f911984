package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.FieldInfo;
import java.util.Set;

/** Restores all fields except some. */
class Partial extends Rule {
    private final Set<String> left;

    Partial(String owner, String... left) {
        super(owner);
        this.left = Set.of(left);
    }

    /** An object whose values replace the omitted ones, or null for zeros. */
    Object template(Instance instance) throws Hole {
        return null;
    }

    @Override
    boolean isRaw(FieldInfo field) {
        return !left.contains(field.name);
    }

    @Override
    Object create(Instance instance) throws Hole {
        Object object = Restorer.allocate(instance.type.running);
        Object template = template(instance);
        Class<?> covered = instance.type.superclass(owner);
        if (template != null && covered != null) {
            Layout.copy(template, object, covered);
        }
        return object;
    }
}

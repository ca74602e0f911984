package dev.hindsight.replay;

import dev.hindsight.replay.Recorded.StaticField;
import dev.hindsight.replay.Recorded.Stored;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * The settings of the program's static fields, and of the fields of its constants, to the recorded
 * values.
 */
final class Settings {
    private final Restorer restorer;
    private final List<Statics.Setting> settings = new ArrayList<>();

    /** The settings of a restorer that has made all objects. */
    Settings(Restorer restorer) {
        this.restorer = restorer;
    }

    /**
     * The existing static fields and fields of constants, with the values that could be restored.
     */
    List<Statics.Setting> all() {
        for (StaticField field : restorer.file.statics) {
            try {
                Class<?> known = restorer.numbered.type(field.owner);
                // Its initialiser would overwrite what is set before.
                Classes.initialize(known);
                Field found = Layout.findStatic(known, field.name, field.descriptor);
                if (found == null) {
                    restorer.note(field.owner, "has no static field " + field.name + " here");
                    continue;
                }
                Statics.Setting setting = Statics.Setting.of(found);
                setting.field = field.owner + "." + field.name;
                if (!set(setting, field.descriptor, field.value)) {
                    restorer.note(field.owner, "static field " + field.name
                            + " cannot hold what was recorded; " + Classes.DIFFERS);
                }
            } catch (Hole hole) {
                restorer.note(field.owner, hole.getMessage());
            } catch (OutOfMemoryError e) {
                throw e;
            } catch (Throwable e) {
                restorer.note(field.owner, "its static fields cannot be set here: " + Classes.reason(e));
            }
        }
        for (int i = 0; i < restorer.order.size(); i++) {
            int number = restorer.order.get(i);
            Object constant = restorer.get(number);
            Stored stored = restorer.stored(number);
            int kind = stored == null ? Stored.HOLE : stored.kind;
            if (constant instanceof Enum && kind == Stored.ENUM
                    || restorer.isPreset(number) && kind == Stored.INSTANCE
                            && restorer.file.constants.containsKey(number)) {
                fields(constant, stored);
            }
        }
        return settings;
    }

    /** Adds the fields of a constant. */
    private void fields(Object constant, Stored stored) {
        Type type = restorer.type(stored.classId);
        // The classes of constants' bodies are named by their order, which another version may
        // change.
        if (!type.running.isInstance(constant)) {
            restorer.note(type.info.name, "is not the class of its constant " + stored.text()
                    + " here, which keeps its fields; " + Classes.DIFFERS);
            return;
        }
        for (int i = 0; i < stored.values().length && i < type.slots.length; i++) {
            if (type.slots[i] != null) {
                set(Statics.Setting.of(constant, type.slots[i]), type.info.fields[i].descriptor,
                        stored.values()[i]);
            }
        }
    }

    /**
     * Adds the setting of a place to a value, if that could be restored; false if the place cannot
     * hold it.
     */
    private boolean set(Statics.Setting setting, String descriptor, Object stored) {
        if (stored == null && !Recorded.isReference(descriptor)) {
            return true;
        }
        Object value = restorer.converted(stored, descriptor, setting.type);
        if (value != Restorer.UNHELD && (value != null || stored == null)) {
            setting.value = value;
            settings.add(setting);
        }
        return value != Restorer.UNHELD;
    }
}

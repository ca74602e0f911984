package crashes.snakeyaml406;

import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * jackson-dataformats-text #406: a YAML directive with an enormous version.
 *
 * <p>The scanner converts the minor version to an int without looking at its length. The caller is
 * ready for the library's own exception only.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(load("%YAML 1.9224775801\n--- text\n"));
    }

    static Object load(String document) { // expect: reproduces, green when fixed
        try {
            return new Yaml().load(document);
        } catch (YAMLException e) {
            return "invalid";
        }
    }
}

//! What probes must not do to a program: they call nothing of it, wait for nothing of it, and fail where it
//! would not.

use hindsight_test_programs::{Workplace, both, jdks, text};

/// An object is handed to another thread while its class is being initialised, and its exception with it.
const BEING_INITIALISED: &str = r#"
public class Initialised extends Thread {
    static class Settings {
        static final Settings SETTINGS = new Settings();
        int value;
        static { new Initialised(SETTINGS, null).go(); }
    }
    static class Wrapped extends RuntimeException {
        static final Wrapped WRAPPED = new Wrapped();
        static { new Initialised(null, WRAPPED).go(); }
    }
    final Settings settings;
    final RuntimeException failure;
    Initialised(Settings settings, RuntimeException failure) {
        this.settings = settings;
        this.failure = failure;
        setDaemon(true);
    }
    @Override public void run() {
        if (failure != null) throw failure;
        settings.value = 42;
    }
    void go() {
        start();
        try { join(20_000); } catch (InterruptedException e) { }
        if (isAlive()) {
            System.out.println(settings != null ? "the write hangs" : "the exception hangs");
            Runtime.getRuntime().halt(3);
        }
    }
    public static void main(String[] arguments) {
        System.out.println(Settings.SETTINGS.value);
        System.out.println(Wrapped.WRAPPED.getMessage());
    }
}"#;

#[test]
fn no_class_is_initialised_by_a_probe() {
    for jdk in jdks() {
        let workplace = Workplace::new("probes-initialised");
        let program = ("Initialised", BEING_INITIALISED);
        let (_, ran) = workplace.run_text(jdk, "11", "copy=deep", program);
        assert_eq!(text(&ran.stdout), "42\nnull\n", "{}", both(&ran));
        assert_eq!(workplace.crashes().len(), 1, "{}", both(&ran));
    }
}

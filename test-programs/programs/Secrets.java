// options: redact=pin*
// exit: 1

/** Text behind a name that says secret is not stored. */
public class Secrets {
    String userPassword = "hunter2";
    char[] apiKey = {'k'};
    int pin = 1234;
    String pinText = "1234";
    String user = "u";

    void login(String passphrase, String plain) {
        throw new SecurityException();
    }

    public static void main(String[] args) {
        new Secrets().login("open sesame", "shown");
    }
}

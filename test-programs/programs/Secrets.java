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
/* crashes
java.lang.SecurityException in thread main, uncaught
  Secrets.login:13 this=Secrets{userPassword=hole(redacted),apiKey=hole(redacted),pin=null,pinText=hole(redacted),user="u"} passphrase=hole(redacted) plain="shown"
  Secrets.main:17 args=[]
*/

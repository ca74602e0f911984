// options: redact=pin*
// exit: 1

import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Text behind a name that says secret is not stored: of a field, a parameter, or a key. */
public class Secrets {
    String userPassword = "hunter2";
    char[] apiKey = {'k'};
    int pin = 1234;
    String pinText = "1234";
    String user = "u";
    List<String> passwords = Collections.singletonList("hunter3");
    Map<String, Object> settings = Collections.singletonMap("db.password", "hunter4");
    Header header = new Header("Cookie", "crumbs");
    Header other = new Header("Accept", "all");

    static class Header {
        final String name;
        final String value;

        Header(String name, String value) {
            this.name = name;
            this.value = value;
        }
    }

    void login(String passphrase, String plain) {
        throw new SecurityException();
    }

    void set(String key, String value, String shown) {
        header("Content-Type", "text");
    }

    void header(String name, Object value) {
        put("api-key", "hunter6", true);
    }

    /** The key is known from the frame within. */
    void put(String key, String value, boolean shown) {
        putAll(key, value, 5);
    }

    void putAll(String k, String v, int shown) {
        login("open sesame", "shown");
    }

    public static void main(String[] args) {
        new Secrets().set("db.password", "hunter5", "shown");
    }
}
/* crashes
java.lang.SecurityException in thread main, uncaught
  Secrets.login:31 this=Secrets{userPassword=hole(redacted, length 1 to 8),apiKey=hole(redacted, length 1 to 8),pin=null,pinText=hole(redacted, length 1 to 8),user="u",passwords=Collections$SingletonList,settings=Collections$SingletonMap,header=Secrets$Header{name="Cookie",value=hole(redacted, length 1 to 8)},other=Secrets$Header{name="Accept",value="all"}} passphrase=hole(redacted, length 9 to 16) plain="shown"
  Secrets.putAll:48 this=Secrets{userPassword=hole(redacted, length 1 to 8),apiKey=hole(redacted, length 1 to 8),pin=null,pinText=hole(redacted, length 1 to 8),user="u",passwords=Collections$SingletonList,settings=Collections$SingletonMap,header=Secrets$Header{name="Cookie",value=hole(redacted, length 1 to 8)},other=Secrets$Header{name="Accept",value="all"}} k="api-key" v=hole(redacted, length 1 to 8) shown=5
  Secrets.put:44 this=Secrets{userPassword=hole(redacted, length 1 to 8),apiKey=hole(redacted, length 1 to 8),pin=null,pinText=hole(redacted, length 1 to 8),user="u",passwords=Collections$SingletonList,settings=Collections$SingletonMap,header=Secrets$Header{name="Cookie",value=hole(redacted, length 1 to 8)},other=Secrets$Header{name="Accept",value="all"}} key="api-key" value=hole(redacted, length 1 to 8) shown=true
  Secrets.header:39 this=Secrets{userPassword=hole(redacted, length 1 to 8),apiKey=hole(redacted, length 1 to 8),pin=null,pinText=hole(redacted, length 1 to 8),user="u",passwords=Collections$SingletonList,settings=Collections$SingletonMap,header=Secrets$Header{name="Cookie",value=hole(redacted, length 1 to 8)},other=Secrets$Header{name="Accept",value="all"}} name="Content-Type" value="text"
  Secrets.set:35 this=Secrets{userPassword=hole(redacted, length 1 to 8),apiKey=hole(redacted, length 1 to 8),pin=null,pinText=hole(redacted, length 1 to 8),user="u",passwords=Collections$SingletonList,settings=Collections$SingletonMap,header=Secrets$Header{name="Cookie",value=hole(redacted, length 1 to 8)},other=Secrets$Header{name="Accept",value="all"}} key="db.password" value=hole(redacted, length 1 to 8) shown="shown"
  Secrets.main:52 args=[]
*/

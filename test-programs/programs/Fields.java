// exit: 1

/** Fields that a method changes before it fails: with copy=fields their value at entry counts. */
public class Fields {
    int count = 1;
    String name = "before";
    final int fixed = 7;
    Fields next;

    void fail(Fields other) {
        count = 50;
        name = null;
        if (other != null) {
            other.count = 60;
            other.next = this;
        }
        name.length();
    }

    void outer() {
        count = 2;
        fail(new Fields());
    }

    public static void main(String[] args) {
        Fields f = new Fields();
        f.fail0();
    }

    void fail0() {
        try {
            fail(null);
        } catch (NullPointerException e) {
            count = 10;
        }
        outer();
    }
}
/* crashes
java.lang.NullPointerException in thread main, uncaught
  Fields.fail:17 this=Fields{count=50,name=null,fixed=7,next=null} other=Fields{count=60,name="before",fixed=7,next=Fields{count=50,name=null,fixed=7,next=null}} [at entry Fields.count=2] [at entry Fields.count=1] [at entry Fields.next=null]
  Fields.outer:22 this=Fields{count=50,name=null,fixed=7,next=null} [at entry Fields.count=10]
  Fields.fail0:36 this=Fields{count=50,name=null,fixed=7,next=null} [at entry Fields.count=1]
  Fields.main:27 args=[]
*/

// exit: 1

/**
 * A superclass has a constant of its subclass. The program meets the superclass first; where the
 * subclass is initialised before it, the constant stays null.
 */
public class Zones {
    abstract static class Zone {
        static final Zone UTC = Utc.INSTANCE;

        abstract int offset();
    }

    static final class Utc extends Zone {
        static final Zone INSTANCE = new Utc();

        @Override
        int offset() {
            return 0;
        }
    }

    static final class Parser {
        final Zone zone;

        Parser(Zone zone) {
            this.zone = zone;
        }

        long parse(String text) {
            return zone.offset() - Zone.UTC.offset() + field(text, 3);
        }
    }

    static long field(String text, int index) {
        return Long.parseLong(text.split("-")[index]);
    }

    public static void main(String[] args) {
        new Parser(Zone.UTC).parse("2020-02-31");
    }
}
/* crashes
java.lang.ArrayIndexOutOfBoundsException in thread main, uncaught
  Zones.field:36 text="2020-02-31" index=3
  Zones$Parser.parse:31 this=Zones$Parser{zone=Zones$Utc{}} text="2020-02-31"
  Zones.main:40 args=[]
*/

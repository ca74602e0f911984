package reports;

/** Prices by the names of things. */
public class Prices<P> extends Table<String, P> {
}

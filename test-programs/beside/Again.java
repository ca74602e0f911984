/** Runs {@link App} after all of its classes have been retransformed a few times. */
public class Again {
    public static void main(String[] args) throws Exception {
        Class<?>[] classes = {
            Class.forName("App"), Class.forName("App$Basket"), Class.forName("App$Box"), Thread.class
        };
        Class<?> agent = ClassLoader.getSystemClassLoader().loadClass("Early");
        for (int i = 0; i < 3; i++) {
            agent.getMethod("retransform", Class[].class).invoke(null, (Object) classes);
        }
        App.main(args);
    }
}

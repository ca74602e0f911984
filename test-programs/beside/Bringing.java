import io.opentelemetry.javaagent.test.AgentLoader;
import java.io.InputStream;

/** Runs what an agent has brought with it. */
public class Bringing {
    public static void main(String[] args) throws Exception {
        byte[] bytes;
        try (InputStream in = Bringing.class.getResourceAsStream("/Brought.class")) {
            bytes = in.readAllBytes();
        }
        Class<?> brought = new AgentLoader().define("Brought", bytes);
        ((Runnable) brought.getDeclaredConstructor().newInstance()).run();
    }
}

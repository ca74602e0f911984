import java.util.Map;
import java.util.TreeMap;
import org.aspectj.lang.ProceedingJoinPoint;
import org.aspectj.lang.annotation.Around;
import org.aspectj.lang.annotation.Aspect;
import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.dao.PersistenceExceptionTranslationAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.EnableAspectJAutoProxy;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.EventListener;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** An application without a web server; prints what its beans do. */
public class Driver {
    public interface Shop {
        int price(String item);
    }

    public static class PlainShop implements Shop {
        @Override
        public int price(String item) {
            if (item.isEmpty()) {
                throw new IllegalArgumentException("no item");
            }
            return item.length() * 10;
        }
    }

    public static class Cart {
        private final Map<String, Integer> items = new TreeMap<>();
        private final Shop shop;

        public Cart(Shop shop) {
            this.shop = shop;
        }

        public int add(String item) {
            return items.merge(item, shop.price(item), Integer::sum);
        }
    }

    @Aspect
    public static class Calls {
        private int count;

        @Around("execution(* Driver.Shop.*(..)) || execution(* Driver.Cart.*(..))")
        public Object around(ProceedingJoinPoint point) throws Throwable {
            count++;
            try {
                return point.proceed();
            } finally {
                System.out.println("call " + count + " " + point.getSignature().getName());
            }
        }
    }

    @ConfigurationProperties("shop")
    public record Settings(String name, int limit) {}

    @EnableAutoConfiguration(exclude = PersistenceExceptionTranslationAutoConfiguration.class)
    @Configuration
    @EnableAspectJAutoProxy
    @EnableConfigurationProperties(Settings.class)
    public static class Application {
        @Bean
        Shop shop() {
            return new PlainShop();
        }

        @Bean
        Cart cart() {
            return new Cart(shop());
        }

        @Bean
        Calls calls() {
            return new Calls();
        }

        @Bean
        @Lazy
        Object failing(Settings settings) {
            throw new IllegalStateException("beyond " + settings.limit());
        }

        @EventListener
        void started(org.springframework.boot.context.event.ApplicationStartedEvent event) {
            System.out.println("started");
        }
    }

    public static void main(String[] args) {
        System.setProperty(LoggingSystem.SYSTEM_PROPERTY, LoggingSystem.NONE);
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                .bannerMode(Banner.Mode.OFF).properties("shop.name=corner", "shop.limit=${limit:7}").run(args)) {
            Cart cart = context.getBean(Cart.class);
            System.out.println(cart.add("apple") + " " + cart.add("fig"));
            try {
                cart.add("");
            } catch (IllegalArgumentException e) {
                System.out.println(e.getMessage());
            }
            try {
                context.getBean("failing");
            } catch (RuntimeException e) {
                System.out.println(e.getClass().getSimpleName() + " " + e.getCause().getCause());
            }
            System.out.println(context.getBean(Settings.class));
            System.out.println(context.getBean(Shop.class).getClass().getName().contains("Proxy"));
            System.out.println(new SpelExpressionParser().parseExpression("{1, 2, 3}.?[#this > 1].![#this * 2]").getValue());
            System.out.println(context.getBeanDefinitionCount());
        }
        try {
            new SpringApplicationBuilder(Application.class).bannerMode(Banner.Mode.OFF).properties("shop.limit=many").run(args);
        } catch (RuntimeException e) {
            System.out.println(e.getClass().getName());
        }
    }
}

package dev.hindsight.replay;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Rules for pools of threads. The recorded threads and their tasks are lost. A new pool of the same
 * kind and size stands for the recorded one, with daemon threads.
 */
final class Pools {
    static final String STANDS_IN = "a new pool with daemon threads and no tasks stands for it";

    /**
     * The shift of the pool's state in {@code ThreadPoolExecutor.ctl}; it is 0 or more if the pool
     * takes no more tasks.
     */
    private static final int STATES = 29;
    private static final int RUNNING = -1;
    /** The mask of the parallelism in a word of {@code ForkJoinPool}. */
    private static final int PARALLELISM = 0xffff;

    private static final ThreadFactory DAEMONS = task -> {
        Thread thread = new Thread(task, "pool of a test");
        thread.setDaemon(true);
        return thread;
    };

    private Pools() {}

    static void register() {
        Rules.register(new Pool("java.util.concurrent.ThreadPoolExecutor") {
            @Override
            ExecutorService make(Instance instance) {
                int core = size(instance, "corePoolSize");
                int maximum = Math.max(Math.max(core, 1), size(instance, "maximumPoolSize"));
                long nanos = Math.max(0, instance.number("keepAliveTime", 0));
                // A pool that grows at once has no queue.
                boolean grows = core == 0 && maximum > 1;
                return new ThreadPoolExecutor(core, maximum, nanos, TimeUnit.NANOSECONDS,
                        grows ? new SynchronousQueue<>() : new LinkedBlockingQueue<>(), DAEMONS);
            }
        });
        Rules.register(new Pool("java.util.concurrent.ScheduledThreadPoolExecutor") {
            @Override
            ExecutorService make(Instance instance) {
                return new ScheduledThreadPoolExecutor(size(instance, "corePoolSize"), DAEMONS);
            }
        });
        Rules.register(new Pool("java.util.concurrent.ForkJoinPool") {
            @Override
            ExecutorService make(Instance instance) {
                String field = instance.has("parallelism") ? "parallelism" : "mode";
                int threads = (int) instance.number(field, 1) & PARALLELISM;
                return new ForkJoinPool(Math.max(1, threads));
            }
        });
        Rules.register(new Pool("java.util.concurrent.ThreadPerTaskExecutor") {
            @Override
            ExecutorService make(Instance instance) throws Hole {
                Instance factory = instance.object("factory");
                String name = factory == null ? "" : factory.type.info.name;
                return perTask(name.contains("Virtual"));
            }
        });
    }

    /** An executor with a thread per task, from Java 21 on. */
    private static ExecutorService perTask(boolean isVirtual) throws Hole {
        try {
            return isVirtual
                    ? (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor")
                            .invoke(null)
                    : (ExecutorService) Executors.class
                            .getMethod("newThreadPerTaskExecutor", ThreadFactory.class)
                            .invoke(null, DAEMONS);
        } catch (ReflectiveOperationException e) {
            throw new Hole("a thread for each task, which this release of Java has not");
        }
    }

    private static int size(Instance instance, String field) {
        return (int) Math.max(0, Math.min(Integer.MAX_VALUE, instance.number(field, 0)));
    }

    /** Makes pools of a class of the JDK; subclasses are not known. */
    abstract static class Pool extends Rule {
        Pool(String owner) {
            super(owner);
        }

        abstract ExecutorService make(Instance instance) throws Hole;

        @Override
        boolean isWhole() {
            return true;
        }

        @Override
        void children(Instance instance, Numbers out) {
            out.add(instance.reference("ctl"));
            out.add(instance.reference("handler"));
        }

        @Override
        Object create(Instance instance) throws Hole {
            ExecutorService pool = make(instance);
            instance.restorer.note(instance.type.info.name, STANDS_IN);
            return pool;
        }

        @Override
        void fill(Instance instance, Object object) {
            if (!(object instanceof ThreadPoolExecutor)) {
                return;
            }
            ThreadPoolExecutor pool = (ThreadPoolExecutor) object;
            Object handler = instance.restorer.get(instance.reference("handler"));
            if (handler instanceof RejectedExecutionHandler) {
                pool.setRejectedExecutionHandler((RejectedExecutionHandler) handler);
            }
            if (instance.number("keepAliveTime", 0) > 0 && instance.flag("allowCoreThreadTimeOut")) {
                pool.allowCoreThreadTimeOut(true);
            }
            Instance state = instance.object("ctl");
            if (state != null && (int) state.number("value", RUNNING) >> STATES >= 0) {
                pool.shutdown();
            }
        }
    }
}

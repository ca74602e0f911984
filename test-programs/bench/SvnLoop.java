import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.Stream;
import org.tmatesoft.svn.core.SVNDepth;
import org.tmatesoft.svn.core.SVNException;
import org.tmatesoft.svn.core.SVNURL;
import org.tmatesoft.svn.core.internal.io.fs.FSRepositoryFactory;
import org.tmatesoft.svn.core.internal.wc.DefaultSVNOptions;
import org.tmatesoft.svn.core.io.SVNRepositoryFactory;
import org.tmatesoft.svn.core.wc.SVNClientManager;
import org.tmatesoft.svn.core.wc.SVNRevision;
import org.tmatesoft.svn.core.wc.SVNWCUtil;

/**
 * Checks a local repository out, or brings working copies up to date, over and over in one JVM, and
 * prints process CPU time and wall time in milliseconds for each.
 *
 * <p>Arguments: {@code create HOME}, which makes a repository of 900 files and 40 MB whose second
 * revision changes a tenth of them; or {@code checkout HOME ROUNDS}, or {@code update HOME ROUNDS}.
 */
public class SvnLoop {
    private static final int FILES = 900;
    private static final int BYTES = 45_000;

    private static SVNClientManager svn;

    public static void main(String[] args) throws Exception {
        File home = new File(args[1]);
        FSRepositoryFactory.setup();
        DefaultSVNOptions options = SVNWCUtil.createDefaultOptions(new File(home, "config"), true);
        svn = SVNClientManager.newInstance(options, "tester", "");
        if (args[0].equals("create")) {
            create(home);
            return;
        }
        SVNURL trunk = SVNURL.fromFile(new File(home, "repository")).appendPath("trunk", false);
        com.sun.management.OperatingSystemMXBean system =
                (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int round = 0; round < Integer.parseInt(args[2]); round++) {
            File copy = new File(home, "copy-" + ProcessHandle.current().pid());
            boolean update = args[0].equals("update");
            if (update) {
                checkOut(trunk, copy);
            }
            long cpu = system.getProcessCpuTime();
            long wall = System.nanoTime();
            if (update) {
                svn.getUpdateClient().doUpdate(copy, SVNRevision.HEAD, SVNDepth.INFINITY, false, false);
            } else {
                checkOut(trunk, copy);
            }
            cpu = system.getProcessCpuTime() - cpu;
            wall = System.nanoTime() - wall;
            boolean ok = new File(copy, "dir0/file0.txt").exists()
                    && Files.readString(copy.toPath().resolve("dir0/file0.txt")).startsWith("changed") == update;
            delete(copy.toPath());
            System.out.println(cpu / 1_000_000 + " " + wall / 1_000_000 + " " + (ok ? "ok" : "failed"));
        }
    }

    private static void checkOut(SVNURL trunk, File copy) throws SVNException {
        SVNRevision first = SVNRevision.create(1);
        svn.getUpdateClient().doCheckout(trunk, copy, first, first, SVNDepth.INFINITY, false);
    }

    private static void create(File home) throws Exception {
        SVNURL url = SVNRepositoryFactory.createLocalRepository(new File(home, "repository"), true, false);
        Path files = home.toPath().resolve("files");
        Random random = new Random(1);
        for (int i = 0; i < FILES; i++) {
            Path file = files.resolve("dir" + i / 30 + "/file" + i % 30 + ".txt");
            Files.createDirectories(file.getParent());
            StringBuilder text = new StringBuilder();
            while (text.length() < BYTES) {
                text.append("line ").append(Long.toString(random.nextLong(), 36)).append('\n');
            }
            Files.writeString(file, text);
        }
        SVNURL trunk = url.appendPath("trunk", false);
        svn.getCommitClient().doImport(files.toFile(), trunk, "files", null, false, false, SVNDepth.INFINITY);
        delete(files);
        File copy = new File(home, "copy");
        checkOut(trunk, copy);
        for (int i = 0; i < FILES; i += 10) {
            Path file = copy.toPath().resolve("dir" + i / 30 + "/file" + i % 30 + ".txt");
            Files.writeString(file, "changed\n" + Files.readString(file));
        }
        svn.getCommitClient().doCommit(new File[] {copy}, false, "changes", null, null, false, false, SVNDepth.INFINITY);
        delete(copy.toPath());
    }

    private static void delete(Path path) throws IOException {
        try (Stream<Path> all = Files.walk(path)) {
            all.sorted(Comparator.reverseOrder()).forEach(each -> {
                try {
                    Files.delete(each);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}

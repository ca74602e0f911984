import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import org.tmatesoft.svn.core.SVNCommitInfo;
import org.tmatesoft.svn.core.SVNDepth;
import org.tmatesoft.svn.core.SVNException;
import org.tmatesoft.svn.core.SVNLogEntry;
import org.tmatesoft.svn.core.SVNURL;
import org.tmatesoft.svn.core.internal.io.fs.FSRepositoryFactory;
import org.tmatesoft.svn.core.internal.wc.DefaultSVNOptions;
import org.tmatesoft.svn.core.io.SVNRepositoryFactory;
import org.tmatesoft.svn.core.wc.SVNClientManager;
import org.tmatesoft.svn.core.wc.SVNCopySource;
import org.tmatesoft.svn.core.wc.SVNRevision;
import org.tmatesoft.svn.core.wc.SVNWCUtil;

/** A working copy's life on a local repository; prints revisions, logs, differences and errors. */
public class Driver {
    public static void main(String[] args) throws Exception {
        File home = new File(args[0]);
        FSRepositoryFactory.setup();
        SVNURL url = SVNRepositoryFactory.createLocalRepository(new File(home, "repository"), true, false);
        DefaultSVNOptions options = SVNWCUtil.createDefaultOptions(new File(home, "config"), true);
        SVNClientManager svn = SVNClientManager.newInstance(options, "tester", "");
        File copy = new File(home, "copy");
        SVNURL trunk = url.appendPath("trunk", false);
        show(svn.getCommitClient().doMkDir(new SVNURL[] {trunk, url.appendPath("branches", false)}, "layout"));
        svn.getUpdateClient().doCheckout(trunk, copy, SVNRevision.HEAD, SVNRevision.HEAD, SVNDepth.INFINITY, false);
        Path dir = copy.toPath().resolve("dir");
        Files.createDirectories(dir);
        for (int i = 0; i < 12; i++) {
            Files.writeString(dir.resolve("file" + i + ".txt"), ("line " + i + "\n").repeat(20 + i));
        }
        svn.getWCClient().doAdd(dir.toFile(), false, false, false, SVNDepth.INFINITY, false, false);
        show(commit(svn, copy, "files"));
        for (int i = 0; i < 12; i += 3) {
            Files.writeString(dir.resolve("file" + i + ".txt"), ("line " + i + "\n").repeat(10) + "changed\n" + ("line " + i + "\n").repeat(10));
        }
        svn.getWCClient().doDelete(dir.resolve("file1.txt").toFile(), true, false);
        ByteArrayOutputStream difference = new ByteArrayOutputStream();
        svn.getDiffClient().doDiff(copy, SVNRevision.BASE, copy, SVNRevision.WORKING, SVNDepth.INFINITY, false, difference, null);
        String[] lines = difference.toString().replace(home.toString(), ".").split("\n");
        java.util.Arrays.sort(lines);
        System.out.println(String.join("\n", lines));
        show(commit(svn, copy, "changes"));
        show(svn.getCopyClient().doCopy(new SVNCopySource[] {new SVNCopySource(SVNRevision.HEAD, SVNRevision.create(2), trunk)},
                url.appendPath("branches/one", false), false, false, true, "branch", null));
        svn.getUpdateClient().doUpdate(copy, SVNRevision.HEAD, SVNDepth.INFINITY, false, false);
        svn.getUpdateClient().doSwitch(copy, url.appendPath("branches/one", false), SVNRevision.HEAD, SVNRevision.HEAD, SVNDepth.INFINITY, false, false);
        System.out.println(Files.exists(dir.resolve("file1.txt")) + " " + Files.readString(dir.resolve("file3.txt")).length());
        svn.getLogClient().doLog(url, new String[] {""}, SVNRevision.HEAD, SVNRevision.create(0), SVNRevision.HEAD, true, true, 100L,
                (SVNLogEntry entry) -> System.out.println(entry.getRevision() + " " + entry.getAuthor() + " " + entry.getMessage() + " "
                        + new java.util.TreeSet<>(entry.getChangedPaths().keySet())));
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        svn.getWCClient().doGetFileContents(trunk.appendPath("dir/file6.txt", false), SVNRevision.HEAD, SVNRevision.HEAD, false, content);
        System.out.println(content.size());
        fail(home, () -> svn.getUpdateClient().doCheckout(url.appendPath("nowhere", false), new File(home, "other"),
                SVNRevision.HEAD, SVNRevision.HEAD, SVNDepth.INFINITY, false));
        fail(home, () -> svn.getWCClient().doAdd(new File(home, "missing"), false, false, false, SVNDepth.EMPTY, false, false));
        fail(home, () -> svn.getCommitClient().doMkDir(new SVNURL[] {trunk}, "again"));
        svn.dispose();
    }

    interface Step {
        void run() throws SVNException;
    }

    private static void fail(File home, Step step) {
        try {
            step.run();
            System.out.println("no failure");
        } catch (SVNException e) {
            System.out.println(e.getErrorMessage().getErrorCode() + " " + e.getMessage().replace(home.toString(), "."));
        }
    }

    private static SVNCommitInfo commit(SVNClientManager svn, File copy, String message) throws SVNException {
        return svn.getCommitClient().doCommit(new File[] {copy}, false, message, null, null, false, false, SVNDepth.INFINITY);
    }

    private static void show(SVNCommitInfo info) {
        System.out.println("revision " + info.getNewRevision() + " by " + info.getAuthor());
    }
}

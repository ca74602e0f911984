import java.io.File;
import java.util.Collections;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.tools.ExecFileLoader;

/** What JaCoCo has seen of jars: {@code Coverage EXEC JAR...} prints classes, lines and branches. */
public class Coverage {
    public static void main(String[] args) throws Exception {
        ExecFileLoader loader = new ExecFileLoader();
        loader.load(new File(args[0]));
        CoverageBuilder builder = new CoverageBuilder();
        Analyzer analyzer = new Analyzer(loader.getExecutionDataStore(), builder);
        for (int i = 1; i < args.length; i++) {
            try (ZipFile jar = new ZipFile(args[i])) {
                for (ZipEntry entry : Collections.list(jar.entries())) {
                    // Other versions of the same classes are below META-INF.
                    if (entry.getName().endsWith(".class") && !entry.getName().startsWith("META-INF/")) {
                        analyzer.analyzeClass(jar.getInputStream(entry), entry.getName());
                    }
                }
            }
        }
        int classes = 0;
        int lines = 0;
        int allLines = 0;
        int branches = 0;
        int allBranches = 0;
        for (IClassCoverage one : builder.getClasses()) {
            classes += one.getMethodCounter().getCoveredCount() > 0 ? 1 : 0;
            lines += one.getLineCounter().getCoveredCount();
            allLines += one.getLineCounter().getTotalCount();
            branches += one.getBranchCounter().getCoveredCount();
            allBranches += one.getBranchCounter().getTotalCount();
        }
        System.out.println(classes + " " + builder.getClasses().size() + " " + lines + " " + allLines
                + " " + branches + " " + allBranches);
    }
}

import com.ibm.wala.core.util.config.AnalysisScopeReader;
import com.ibm.wala.ipa.callgraph.AnalysisScope;
import com.ibm.wala.ipa.callgraph.cha.CHACallGraph;
import com.ibm.wala.ipa.callgraph.impl.AllApplicationEntrypoints;
import com.ibm.wala.ipa.cha.ClassHierarchyFactory;
import com.ibm.wala.ipa.cha.IClassHierarchy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * WALA's call graph by class hierarchy of the application's own methods. Arguments: class path,
 * times. Prints the nodes and milliseconds of each time, reading the classes included.
 */
public final class WalaCalls {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
            long start = System.nanoTime();
            AnalysisScope scope = AnalysisScope.createJavaAnalysisScope();
            try (Stream<Path> modules = Files.list(Path.of(System.getProperty("java.home"), "jmods"))) {
                for (Path module : modules.sorted().toList()) {
                    scope.addToScope(scope.getPrimordialLoader(), new JarFile(module.toFile(), false));
                }
            }
            AnalysisScopeReader.instance.addClassPathToScope(args[0], scope, scope.getApplicationLoader());
            IClassHierarchy hierarchy = ClassHierarchyFactory.make(scope);
            CHACallGraph graph = new CHACallGraph(hierarchy, true);
            graph.init(new AllApplicationEntrypoints(scope, hierarchy));
            long millis = (System.nanoTime() - start) / 1_000_000;
            System.out.println(graph.getNumberOfNodes() + " " + millis);
        }
    }
}

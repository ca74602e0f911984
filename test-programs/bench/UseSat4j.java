import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.sat4j.core.Vec;
import org.sat4j.core.VecInt;
import org.sat4j.minisat.SolverFactory;
import org.sat4j.reader.DimacsReader;
import org.sat4j.reader.GroupedCNFReader;
import org.sat4j.reader.JSONReader;
import org.sat4j.reader.LecteurDimacs;
import org.sat4j.reader.Reader;
import org.sat4j.specs.ContradictionException;
import org.sat4j.specs.IConstr;
import org.sat4j.specs.ISolver;
import org.sat4j.specs.IVec;
import org.sat4j.specs.IVecInt;
import org.sat4j.specs.IteratorInt;
import org.sat4j.tools.AllMUSes;
import org.sat4j.tools.Backbone;
import org.sat4j.tools.ClausalCardinalitiesDecorator;
import org.sat4j.tools.DimacsArrayReader;
import org.sat4j.tools.DimacsStringSolver;
import org.sat4j.tools.GateTranslator;
import org.sat4j.tools.LexicoDecorator;
import org.sat4j.tools.Minimal4CardinalityModel;
import org.sat4j.tools.Minimal4InclusionModel;
import org.sat4j.tools.ModelIterator;
import org.sat4j.tools.OptToSatAdapter;
import org.sat4j.tools.RemiUtils;
import org.sat4j.tools.SingleSolutionDetector;
import org.sat4j.tools.SolutionCounter;
import org.sat4j.tools.encoding.EncodingStrategy;
import org.sat4j.tools.encoding.Policy;
import org.sat4j.tools.xplain.DeletionStrategy;
import org.sat4j.tools.xplain.HighLevelXplain;
import org.sat4j.tools.xplain.InsertionStrategy;
import org.sat4j.tools.xplain.MinimizationStrategy;
import org.sat4j.tools.xplain.QuickXplain2001Strategy;
import org.sat4j.tools.xplain.QuickXplainStrategy;
import org.sat4j.tools.xplain.Xplain;

/** A session with Sat4j: problems with and without solutions, all models, explanations, files. */
public class UseSat4j {
    private static final String PLANNING = "c three tasks, two days\np cnf 6 9\n1 2 0\n3 4 0\n5 6 0\n-1 -3 0\n-1 -5 0\n"
            + "-3 -5 0\n-2 -4 -6 0\n-2 3 0\n1 4 5 0\n";

    public static void main(String[] arguments) throws Exception {
        solvers();
        readers();
        models();
        cardinalities();
        gates();
        explanations();
        optima();
        vectors();
    }

    private static ISolver[] all() {
        return new ISolver[] {
            SolverFactory.newDefault(), SolverFactory.newLight(), SolverFactory.newMiniLearningHeap(),
            SolverFactory.newMiniLearningHeapEZSimp(), SolverFactory.newMiniLearningHeapRsatExpSimp(),
            SolverFactory.newMiniLearningHeapRsatExpSimpBiere(), SolverFactory.newMiniLearningHeapRsatExpSimpLuby(),
            SolverFactory.newGlucose(), SolverFactory.newGlucose21(), SolverFactory.newBestWL(),
            SolverFactory.newBestHT(), SolverFactory.newBackjumping(), SolverFactory.newMinOneSolver(),
            SolverFactory.newAgeLCDS(), SolverFactory.newActivityLCDS(), SolverFactory.newSizeLCDS(),
            SolverFactory.newConcise(), SolverFactory.newNoSimplification(), SolverFactory.newSAT(),
            SolverFactory.newUNSAT(), SolverFactory.newDefaultMS21PhaseSaving(), SolverFactory.newGreedySolver(),
        };
    }

    /** A satisfiable formula, and pigeons that do not fit, with each kind of solver. */
    private static void solvers() throws Exception {
        for (ISolver solver : all()) {
            try {
                solver(solver);
            } catch (UnsupportedOperationException e) {
                // Some kinds of clauses know no implicants, or cannot be taken out.
                System.out.println(e.getMessage());
            }
        }
    }

    private static void solver(ISolver solver) throws Exception {
        solver.setTimeout(60);
        System.out.println("random " + solve(solver, random(30, 110, 7)));
        if (solver.isSatisfiable(new VecInt(new int[] {1, -2}))) {
            System.out.println(solver.model().length + " " + solver.model(2) + " " + solver.primeImplicant().length);
        } else {
            System.out.println(solver.unsatExplanation());
        }
        System.out.println(solver.nVars() + " " + solver.nConstraints() + " " + solver.getStat().size());
        StringWriter told = new StringWriter();
        solver.printStat(new PrintWriter(told, true), "c ");
        solver.printInfos(new PrintWriter(told, true));
        System.out.println(told.toString().length() > 0);
        solver.reset();
        System.out.println("pigeons " + solve(solver, pigeons(5)));
    }

    private static boolean solve(ISolver solver, int[][] clauses) throws Exception {
        int most = 0;
        for (int[] clause : clauses) {
            for (int literal : clause) {
                most = Math.max(most, Math.abs(literal));
            }
        }
        solver.newVar(most);
        solver.setExpectedNumberOfClauses(clauses.length);
        try {
            for (int[] clause : clauses) {
                solver.addClause(new VecInt(clause));
            }
            return solver.isSatisfiable();
        } catch (ContradictionException e) {
            return false;
        }
    }

    private static int[][] pigeons(int holes) {
        IVec<int[]> clauses = new Vec<>();
        for (int pigeon = 0; pigeon <= holes; pigeon++) {
            int[] somewhere = new int[holes];
            for (int hole = 0; hole < holes; hole++) {
                somewhere[hole] = pigeon * holes + hole + 1;
                for (int other = 0; other < pigeon; other++) {
                    clauses.push(new int[] {-somewhere[hole], -(other * holes + hole + 1)});
                }
            }
            clauses.push(somewhere);
        }
        int[][] all = new int[clauses.size()][];
        clauses.copyTo(all);
        return all;
    }

    private static int[][] random(int variables, int clauses, long seed) {
        Random random = new Random(seed);
        int[][] all = new int[clauses][3];
        for (int[] clause : all) {
            for (int i = 0; i < clause.length; i++) {
                clause[i] = (1 + random.nextInt(variables)) * (random.nextBoolean() ? 1 : -1);
            }
        }
        return all;
    }

    private static ByteArrayInputStream text(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void readers() throws Exception {
        for (Reader reader : new Reader[] {
                new DimacsReader(SolverFactory.newDefault()), new LecteurDimacs(SolverFactory.newLight())}) {
            int[] model = reader.parseInstance(text(PLANNING)).findModel();
            System.out.println(model == null ? "none" : reader.decode(model));
        }
        ISolver parsed = new JSONReader<>(SolverFactory.newDefault())
                .parseString("[[1,2],[-1,3],[[1,2,3],'<',3],[[1,2],'>=',1],[-2,-3]]");
        System.out.println(parsed.isSatisfiable());
        HighLevelXplain<ISolver> groups = new HighLevelXplain<>(SolverFactory.newDefault());
        new GroupedCNFReader(groups).parseInstance(text("p gcnf 2 4 3\n{0} 1 2 0\n{1} -1 0\n{2} -2 0\n{3} 1 -2 0\n"));
        if (!groups.isSatisfiable()) {
            System.out.println(groups.explain());
        }
        DimacsArrayReader arrays = new DimacsArrayReader(SolverFactory.newDefault());
        System.out.println(arrays.parseInstance(new int[] {0, 0}, new int[] {0, 0},
                new int[][] {{1, 2}, {-1, 2}}, 2).isSatisfiable());
        DimacsStringSolver out = new DimacsStringSolver();
        out.newVar(3);
        out.setExpectedNumberOfClauses(3);
        out.addClause(new VecInt(new int[] {1, -2}));
        out.addAtMost(new VecInt(new int[] {1, 2, 3}), 1);
        out.addExactly(new VecInt(new int[] {2, 3}), 1);
        System.out.println(out.getOut().length() + " " + out.nConstraints());
        try {
            new DimacsReader(SolverFactory.newDefault()).parseInstance(text("p cnf 2 x\n"));
        } catch (Exception e) {
            System.out.println(e.getClass().getName());
        }
    }

    private static void models() throws Exception {
        ModelIterator models = new ModelIterator(SolverFactory.newDefault(), 20);
        new DimacsReader(models).parseInstance(text("p cnf 4 3\n1 2 3 0\n-1 -2 0\n3 4 0\n"));
        int count = 0;
        while (models.isSatisfiable()) {
            count += models.model().length;
        }
        System.out.println(count + " " + models.numberOfModelsFoundSoFar());
        ISolver solver = SolverFactory.newDefault();
        solve(solver, random(10, 25, 3));
        System.out.println(new SolutionCounter(solver).countSolutions());
        solver = SolverFactory.newDefault();
        solve(solver, new int[][] {{1, 2}, {-1, 2}, {3, -2}});
        SingleSolutionDetector single = new SingleSolutionDetector(solver);
        System.out.println(single.isSatisfiable() && single.hasASingleSolution());
        System.out.println(RemiUtils.backbone(solver) + " " + Backbone.instance().compute(solver)
                + Backbone.ibb().compute(solver, new VecInt(new int[] {1})));
        for (ISolver minimal : new ISolver[] {new Minimal4InclusionModel(SolverFactory.newDefault()),
                new Minimal4CardinalityModel(SolverFactory.newDefault())}) {
            solve(minimal, new int[][] {{1, 2, 3}, {-1, 4}, {2, 5}});
            System.out.println(minimal.findModel().length + " " + minimal.model(1));
        }
    }

    private static void cardinalities() throws Exception {
        int[] five = {1, 2, 3, 4, 5};
        for (EncodingStrategy strategy : EncodingStrategy.values()) {
            try {
                Policy policy = new Policy();
                policy.setAtMostOneEncoding(strategy);
                policy.setExactlyOneEncoding(strategy);
                policy.setAtMostKEncoding(strategy);
                policy.setAtLeastKEncoding(strategy);
                policy.setExactlyKEncoding(strategy);
                ISolver solver = new ClausalCardinalitiesDecorator<>(SolverFactory.newDefault(), policy);
                solver.newVar(5);
                solver.addAtMost(new VecInt(five), 1);
                solver.addExactly(new VecInt(new int[] {1, 2, 3}), 1);
                solver.addAtLeast(new VecInt(five), 1);
                solver.addAtMost(new VecInt(five), 3);
                solver.addExactly(new VecInt(new int[] {-1, -2, -3}), 2);
                System.out.println(strategy + " " + solver.isSatisfiable() + " " + solver);
            } catch (UnsupportedOperationException | IllegalStateException e) {
                System.out.println(strategy + " does not");
            }
        }
        for (ISolver solver : all()) {
            try {
                solver.newVar(5);
                IConstr few = solver.addAtMost(new VecInt(five), 2);
                solver.addAtLeast(new VecInt(five), 2);
                solver.addExactly(new VecInt(new int[] {1, 2, 3}), 1);
                solver.addParity(new VecInt(new int[] {1, 2, 4}), true);
                System.out.println(solver.isSatisfiable() + " " + few.size() + " " + few.learnt());
                for (int i = 0; i < 4 && solver.isSatisfiable(); i++) {
                    solver.addBlockingClause(solver.createBlockingClauseForCurrentModel());
                }
                solver.clearLearntClauses();
            } catch (UnsupportedOperationException | ContradictionException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    private static void gates() throws Exception {
        GateTranslator gates = new GateTranslator(SolverFactory.newDefault());
        gates.newVar(20);
        gates.gateTrue(1);
        gates.gateFalse(2);
        gates.and(3, 1, 4);
        gates.and(5, new VecInt(new int[] {1, 3, 4}));
        gates.or(6, new VecInt(new int[] {2, 5}));
        gates.not(7, 6);
        gates.ite(8, 1, 3, 7);
        gates.it(9, 3, 8);
        gates.iff(10, new VecInt(new int[] {3, 4}));
        gates.xor(11, new VecInt(new int[] {3, 7}));
        gates.xor(12, 3, 11);
        gates.fullAdderSum(13, 3, 4, 12);
        gates.fullAdderCarry(14, 3, 4, 12);
        gates.additionalFullAdderConstraints(14, 13, 3, 4, 12);
        gates.halfAdderSum(15, 13, 14);
        gates.halfAdderCarry(16, 13, 14);
        gates.halfOr(17, new VecInt(new int[] {15, 16}));
        System.out.println(gates.isSatisfiable() + " " + gates.model(13) + gates.model(14));
    }

    private static void explanations() throws Exception {
        for (MinimizationStrategy strategy : new MinimizationStrategy[] {new DeletionStrategy(),
                new InsertionStrategy(), new QuickXplainStrategy(), new QuickXplain2001Strategy()}) {
            Xplain<ISolver> explained = new Xplain<>(SolverFactory.newDefault());
            explained.setMinimizationStrategy(strategy);
            boolean solved = solve(explained, new int[][] {{1, 2}, {-1, 3}, {-2, 3}, {-3, 4}, {-3, -4}, {5, 6}});
            System.out.println(solved + " " + explained.minimalExplanation().length);
        }
        AllMUSes muses = new AllMUSes(SolverFactory.instance());
        ISolver solver = muses.getSolverInstance();
        solver.newVar(3);
        for (int[] clause : new int[][] {{1}, {-1}, {2}, {-2, -1}, {3}}) {
            solver.addClause(new VecInt(clause));
        }
        System.out.println(muses.computeAllMSS().size() + " " + muses.computeAllMUSes().size());
    }

    private static void optima() throws Exception {
        LexicoDecorator<ISolver> lexico = new LexicoDecorator<>(SolverFactory.newDefault());
        lexico.newVar(4);
        lexico.addClause(new VecInt(new int[] {1, 2}));
        lexico.addClause(new VecInt(new int[] {3, 4}));
        lexico.addCriterion(new VecInt(new int[] {1, 3}));
        lexico.addCriterion(new VecInt(new int[] {2, 4}));
        OptToSatAdapter optimum = new OptToSatAdapter(lexico);
        System.out.println(optimum.isSatisfiable() + " " + optimum.model().length + " " + optimum.isOptimal()
                + " " + lexico.getObjectiveValue(0) + " " + lexico.numberOfCriteria());
    }

    private static void vectors() {
        IVecInt numbers = new VecInt();
        for (int i = 0; i < 40; i++) {
            numbers.push(i * 17 % 23);
        }
        numbers.sort();
        numbers.sortUnique();
        numbers.remove(5);
        numbers.insertFirst(99);
        numbers.delete(3);
        numbers.moveTo(0, 1);
        numbers.shrink(2);
        IteratorInt each = numbers.iterator();
        int sum = 0;
        while (each.hasNext()) {
            sum += each.next();
        }
        System.out.println(sum + " " + numbers.contains(7) + numbers.indexOf(7) + numbers.last() + numbers.size());
        IVec<String> words = new Vec<>(new String[] {"c", "a", "b"});
        words.push("d").insertFirst("e");
        words.sort(String::compareTo);
        words.remove("b");
        words.set(0, "z");
        System.out.println(words + words.last() + words.get(1) + words.contains("z") + words.indexOf("d"));
    }
}

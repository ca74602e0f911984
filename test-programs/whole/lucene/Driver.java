import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.queryparser.classic.ParseException;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.FSDirectory;

/** Prints hits and scores. */
public class Driver {
    private static final Logger LOGGER = Logger.getLogger("org.apache.lucene");

    public static void main(String[] args) throws Exception {
        LOGGER.setLevel(Level.OFF);
        Path root = Path.of(args[0]);
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(path -> path.toString().endsWith(".java")).sorted().collect(Collectors.toList());
        }
        EnglishAnalyzer analyzer = new EnglishAnalyzer();
        try (FSDirectory directory = FSDirectory.open(Path.of(args[1]))) {
            IndexWriterConfig config = new IndexWriterConfig(analyzer)
                    .setRAMBufferSizeMB(1).setMergeScheduler(new SerialMergeScheduler());
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                for (Path file : files) {
                    String text = Files.readString(file);
                    Document document = new Document();
                    document.add(new StringField("path", root.relativize(file).toString(), Field.Store.YES));
                    document.add(new TextField("text", text, Field.Store.NO));
                    document.add(new IntPoint("length", text.length()));
                    document.add(new NumericDocValuesField("length", text.length()));
                    writer.addDocument(document);
                }
                writer.deleteDocuments(new Term("path", root.relativize(files.get(0)).toString()));
                writer.forceMerge(1);
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                System.out.println(reader.numDocs() + " documents");
                for (String text : new String[] {
                    "hash", "\"linked list\"~4", "iterat* AND NOT map", "trie^3 bag", "length:[1 TO", "que?e OR fif*",
                    "colection~1", "text:(+transformer +closure)", "AND AND"
                }) {
                    try {
                        show(text, searcher.search(new QueryParser("text", analyzer).parse(text), 5), searcher);
                    } catch (ParseException e) {
                        System.out.println(text + " is no query");
                    }
                }
                show("longest", searcher.search(IntPoint.newRangeQuery("length", 1, 40_000), 5,
                        new Sort(new SortField("length", SortField.Type.INT, true))), searcher);
            }
        }
    }

    private static void show(String title, TopDocs found, IndexSearcher searcher) throws Exception {
        System.out.println(title + ": " + found.totalHits);
        for (ScoreDoc hit : found.scoreDocs) {
            System.out.println("  " + hit.score + " " + searcher.storedFields().document(hit.doc).get("path"));
        }
    }
}

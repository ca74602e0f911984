import java.io.File;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.function.Predicate;
import javax.net.SocketFactory;

/** Does what a program under test should not by detours: subclasses, handles, providers, factories. */
public class Sly {
    private static final String VICTIM = @VICTIM@;

    /** A file that has all from its superclass. */
    static class Document extends File {
        Document(String name) {
            super(name);
        }
    }

    /** One that deletes as its superclass does. */
    static class Paper extends Document {
        Paper(String name) {
            super(name);
        }

        @Override
        public boolean delete() {
            return super.delete();
        }
    }

    public boolean deleteDocument() {
        return new Document(VICTIM).delete();
    }

    public boolean deletePaper() {
        return new Paper(VICTIM).delete();
    }

    public boolean deleteByReference() {
        Predicate<Document> delete = Document::delete;
        return delete.test(new Document(VICTIM));
    }

    public Object deleteByHandle() throws Throwable {
        MethodHandle delete =
                MethodHandles.lookup()
                        .findVirtual(File.class, "delete", MethodType.methodType(boolean.class));
        return delete.invoke(new File(VICTIM));
    }

    public Object deleteByUnreflectedHandle() throws Throwable {
        return MethodHandles.lookup()
                .unreflect(File.class.getMethod("delete"))
                .invoke((File) new Document(VICTIM));
    }

    public void deleteByProvider() throws IOException {
        Path path = Paths.get(VICTIM);
        path.getFileSystem().provider().delete(path);
    }

    public void pipe() throws IOException {
        ProcessBuilder.startPipeline(List.of(new ProcessBuilder("touch", VICTIM + ".touched")));
    }

    public void reach() throws IOException {
        SocketFactory.getDefault().createSocket("127.0.0.1", 9).close();
    }

    public String harmless() throws IOException {
        File file = File.createTempFile("sly", ".txt");
        boolean deleted = new Paper(file.getPath()).delete();
        return "deleted " + deleted + ", exists " + file.exists();
    }
}

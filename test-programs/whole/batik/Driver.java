import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.StringReader;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.imageio.ImageIO;
import org.apache.batik.transcoder.ErrorHandler;
import org.apache.batik.transcoder.TranscoderException;
import org.apache.batik.transcoder.TranscoderInput;
import org.apache.batik.transcoder.TranscoderOutput;
import org.apache.batik.transcoder.image.PNGTranscoder;

/** Prints the hashes of the pixels. No text: a server may have no fonts. */
public class Driver {
    public static void main(String[] args) throws Exception {
        StringBuilder shapes = new StringBuilder();
        for (int i = 0; i < 60; i++) {
            shapes.append("<path d='M").append(i * 5).append(" 10 C 20 ").append(i).append(", 40 80, ").append(300 - i * 4)
                    .append(' ').append(i * 3).append(" Z' fill='hsl(").append(i).append("' style='fill:url(#g);opacity:0.3;stroke:#")
                    .append(String.format("%06x", i * 40503 & 0xffffff)).append("' transform='rotate(").append(i * 3).append(" 150 150)'/>");
        }
        String svg = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='300' height='300'>"
                + "<defs><linearGradient id='g'><stop offset='0' stop-color='red'/><stop offset='1' stop-color='blue'/></linearGradient>"
                + "<filter id='f'><feGaussianBlur stdDeviation='3'/><feOffset dx='4' dy='4'/></filter>"
                + "<clipPath id='c'><circle cx='150' cy='150' r='120'/></clipPath></defs>"
                + "<g clip-path='url(#c)'>" + shapes.toString().replaceAll("fill='hsl[^']*'", "") + "</g>"
                + "<rect x='30' y='30' width='90' height='60' rx='9' filter='url(#f)'/>"
                + "<use xlink:href='#u' x='20'/><ellipse id='u' cx='80' cy='200' rx='40' ry='20' style='fill:none;stroke:green;stroke-width:5;stroke-dasharray:9 4'/></svg>";
        draw(svg);
        draw(svg.replace("300'", "123'"));
        draw(svg.replace("'#u'", "'#nowhere'"));
        draw(svg.replace("M0 10", "M0 x10"));
        draw(svg.substring(0, 2000));
    }

    private static void draw(String svg) throws Exception {
        PNGTranscoder transcoder = new PNGTranscoder();
        transcoder.setErrorHandler(new ErrorHandler() {
            @Override
            public void error(TranscoderException e) {
                System.out.println("error");
            }

            @Override
            public void fatalError(TranscoderException e) throws TranscoderException {
                throw e;
            }

            @Override
            public void warning(TranscoderException e) {
                System.out.println("warning");
            }
        });
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            transcoder.transcode(new TranscoderInput(new StringReader(svg)), new TranscoderOutput(out));
        } catch (TranscoderException e) {
            System.out.println("failed: " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            return;
        }
        java.awt.image.BufferedImage image = ImageIO.read(new ByteArrayInputStream(out.toByteArray()));
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                int pixel = image.getRGB(x, y);
                digest.update(new byte[] {(byte) (pixel >> 24), (byte) (pixel >> 16), (byte) (pixel >> 8), (byte) pixel});
            }
        }
        System.out.println(image.getWidth() + "x" + image.getHeight() + " " + HexFormat.of().formatHex(digest.digest()));
    }
}

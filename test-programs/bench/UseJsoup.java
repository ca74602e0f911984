import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.jsoup.nodes.Element;
import org.jsoup.safety.Whitelist;

/** One web page, as a program would use it. */
public class UseJsoup {
    public static void main(String[] args) {
        String html = "<html><head><title>Hi</title></head><body><p class=x>One <b>two</b></p>"
                + "<a href='/q?x=1&y=2'>link</a><form><input name=q value=1></form></body></html>";
        Document page = Jsoup.parse(html, "http://example.com/");
        System.out.println(page.title());
        for (Element element : page.select("p.x, a[href]")) {
            System.out.println(element.text() + " " + element.attr("abs:href"));
        }
        page.body().appendElement("div").text("new & <old>").attr("id", "n1");
        System.out.println(page.select("#n1").outerHtml());
        System.out.println(Jsoup.clean("<script>x</script><b>ok</b>", Whitelist.basic()));
    }
}

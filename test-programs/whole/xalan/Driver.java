import java.io.StringReader;
import java.io.StringWriter;
import javax.xml.transform.ErrorListener;
import javax.xml.transform.Templates;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/** Prints the results of transformations. */
public class Driver {
    private static final String SHEET = """
            <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
              <xsl:output method="%s" indent="yes"/>
              <xsl:key name="by-kind" match="thing" use="@kind"/>
              <xsl:param name="limit" select="3"/>
              <xsl:template match="/things">
                <result total="{sum(thing/@n)}">
                  <xsl:for-each select="thing[generate-id() = generate-id(key('by-kind', @kind)[1])]">
                    <xsl:sort select="@kind"/>
                    <kind name="{@kind}" count="{count(key('by-kind', @kind))}">
                      <xsl:apply-templates select="key('by-kind', @kind)[position() &lt;= $limit]"/>
                    </kind>
                  </xsl:for-each>
                  <xsl:call-template name="hanoi"><xsl:with-param name="n" select="6"/></xsl:call-template>
                </result>
              </xsl:template>
              <xsl:template match="thing"><t n="{format-number(@n, '#,##0.00')}"><xsl:value-of select="normalize-space(.)"/></t></xsl:template>
              <xsl:template match="thing[@n mod 7 = 0]" priority="2"><seven><xsl:copy-of select="@*"/></seven></xsl:template>
              <xsl:template name="hanoi"><xsl:param name="n"/><xsl:param name="a" select="'a'"/><xsl:param name="b" select="'b'"/><xsl:param name="c" select="'c'"/>
                <xsl:if test="$n &gt; 0">
                  <xsl:call-template name="hanoi"><xsl:with-param name="n" select="$n - 1"/><xsl:with-param name="a" select="$a"/><xsl:with-param name="b" select="$c"/><xsl:with-param name="c" select="$b"/></xsl:call-template>
                  <xsl:value-of select="concat($a, $c, ' ')"/>
                  <xsl:call-template name="hanoi"><xsl:with-param name="n" select="$n - 1"/><xsl:with-param name="a" select="$b"/><xsl:with-param name="b" select="$a"/><xsl:with-param name="c" select="$c"/></xsl:call-template>
                </xsl:if>
              </xsl:template>
            </xsl:stylesheet>
            """;

    public static void main(String[] args) throws Exception {
        StringBuilder xml = new StringBuilder("<things>");
        for (int i = 0; i < 400; i++) {
            xml.append("<thing kind='").append((char) ('a' + i * 31 % 11)).append("' n='").append(i * 17 % 1000)
                    .append("'> number <b>").append(i).append("</b></thing>");
        }
        xml.append("</things>");
        for (String factory : new String[] {
            "org.apache.xalan.processor.TransformerFactoryImpl", "org.apache.xalan.xsltc.trax.TransformerFactoryImpl"
        }) {
            for (String method : new String[] {"xml", "html", "text"}) {
                run(factory, SHEET.formatted(method), xml.toString());
            }
            run(factory, SHEET.formatted("xml").replace("<xsl:key", "<xsl:kee"), xml.toString());
            run(factory, SHEET.formatted("xml").replace("sum(", "summe("), xml.toString());
            run(factory, SHEET.formatted("xml"), xml.substring(0, 500));
        }
    }

    private static void run(String name, String sheet, String xml) {
        try {
            TransformerFactory factory = TransformerFactory.newInstance(name, null);
            factory.setErrorListener(new Silent());
            Templates templates = factory.newTemplates(new StreamSource(new StringReader(sheet)));
            javax.xml.transform.Transformer transformer = templates.newTransformer();
            transformer.setErrorListener(new Silent());
            StringWriter out = new StringWriter();
            transformer.transform(new StreamSource(new StringReader(xml)), new StreamResult(out));
            System.out.println(name + " " + out.toString().length() + "\n" + out);
        } catch (Exception e) {
            System.out.println(name + " failed: " + e.getClass().getName() + " " + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
        }
    }

    private static final class Silent implements ErrorListener {
        @Override
        public void warning(TransformerException e) {}

        @Override
        public void error(TransformerException e) throws TransformerException {
            throw e;
        }

        @Override
        public void fatalError(TransformerException e) throws TransformerException {
            throw e;
        }
    }
}

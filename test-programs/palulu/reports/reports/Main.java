package reports;

import java.io.IOException;

/** Reports something. */
public class Main {
    public static void main(String[] args) throws IOException {
        StringBuilder out = new StringBuilder();
        Report report = new Report(out);
        report.line("apples", 3);
        report.line("pears", 5);
        Prices<Integer> prices = new Prices<>();
        prices.put("apple", 30);
        prices.put("pear", 50);
        System.out.println(out + " " + prices.below("m") + prices.rows());
        StringBuilder text = new StringBuilder();
        Codes.describe(2, text);
        System.out.println(text + " " + Codes.all(60).size() + Codes.length("secret".toCharArray()));
        System.out.println(Codes.sum(new int[][] {{1, 2}, {3}}) + " " + Codes.distinct(Codes.some()).length);
    }
}

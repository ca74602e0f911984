package crashes.fastjson3883;

import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONException;

/**
 * fastjson2 #3883: a number that ends in its decimal point.
 *
 * <p>Having read the point, the reader takes the next char without looking for the end of the
 * input. The caller is ready for the library's own exception only.
 */
public final class Driver {
    private Driver() {}

    public static void main(String[] args) {
        System.out.println(parse("\0."));
    }

    static Object parse(String message) { // expect: reproduces, green when fixed
        try {
            return JSON.parse(message);
        } catch (JSONException e) {
            return "invalid";
        }
    }
}

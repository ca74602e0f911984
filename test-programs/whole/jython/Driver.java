import org.python.core.PyException;
import org.python.util.PythonInterpreter;

/** A script with classes, generators, modules, Java objects and exceptions. */
public class Driver {
    private static final String SCRIPT = """
            import re, json, collections, itertools, string, random, datetime
            from java.lang import IndexOutOfBoundsException
            from java.util import ArrayList, HashMap
            class Node(object):
                def __init__(self, value, *children):
                    self.value, self.children = value, children
                def __iter__(self):
                    yield self.value
                    for child in self.children:
                        for value in child: yield value
                def __getattr__(self, name): raise AttributeError('no ' + name)
            tree = Node(1, Node(2, Node(3)), Node(4))
            print list(tree), sum(tree), hasattr(tree, 'colour')
            jlist = ArrayList([3, 1, 2]); jlist.sort(None); print jlist
            def safe(f, *a):
                try: return f(*a)
                except (ZeroDivisionError, KeyError, ValueError, IndexError, TypeError), e: return type(e).__name__ + ': ' + str(e)
                except Exception, e: return 'other ' + type(e).__name__
            print safe(lambda: 1 / 0), safe(lambda: {}['x']), safe(int, 'abc'), safe(lambda: jlist.nothing)
            print json.dumps({'a': [1, 2.5, None, True], 'b': {'c': u'\\u00e4'}}, sort_keys=True), json.loads('[1, {"x": "y"}]')
            words = re.findall(r'\\w+', 'the quick brown fox jumps over the lazy dog the end')
            print sorted(collections.Counter(words).items()), re.sub(r'(\\w)(\\w+)', r'\\2\\1', 'swap letters')
            print [''.join(p) for p in itertools.permutations('abc')]
            try: ArrayList().get(3)
            except IndexOutOfBoundsException, e: print 'Java', e.getMessage()
            def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
            print fib(20), 2 ** 200, '%08.3f|%-6s|%x' % (3.14159, 'ab', 255)
            def deep(n): return deep(n + 1)
            exec 'print "exec", sorted(set([3, 1, 3]))'
            with_state = {}
            class Manager:
                def __enter__(self): with_state['in'] = True; return self
                def __exit__(self, kind, value, trace): with_state['out'] = str(value); return True
            with Manager(): raise ValueError('swallowed')
            print sorted(with_state.items())
            print datetime.date(2020, 2, 28) + datetime.timedelta(2)
            raise RuntimeError('at last')
            """;

    public static void main(String[] args) {
        try (PythonInterpreter python = new PythonInterpreter()) {
            python.exec(SCRIPT);
        } catch (PyException e) {
            System.out.println(e.value);
        }
    }
}

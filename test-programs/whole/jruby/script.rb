# Blocks, modules, pattern matching, fibers, Java objects and exceptions.
require 'set'
require 'json'
module Greets
  def greet(*names, **options) = names.map { |n| "#{options.fetch(:word)} #{n}" }
end
class Person
  include Greets, Comparable
  attr_reader :age
  def initialize(age) = @age = age
  def <=>(other) = age <=> other.age
  def method_missing(name, *args) = name.end_with?('?') ? "asked #{name}" : super
  def respond_to_missing?(name, all = false) = name.end_with?('?') || super
end
people = [5, 3, 9].map { |age| Person.new(age) }
puts people.min.age, people.sort.map(&:age).inspect, people[0].old?, people[0].greet('a', 'b', word: 'hi').inspect
def safe
  yield
rescue ZeroDivisionError, KeyError, NoMethodError, TypeError => e
  "#{e.class}: #{e.message.lines.first.strip[0, 40]}"
rescue java.lang.Exception => e
  "Java #{e.class.name}"
ensure
  print '.'
end
puts safe { 1 / 0 }, safe { {}.fetch(:x) }, safe { nil + 1 }, safe { Person.new(1).greet('x') }, safe { java.util.ArrayList.new.get(3) }
config = { name: 'x', list: [1, [2, 3]], deep: { a: nil } }
case config
in { name: String => name, list: [Integer => first, [*, last]] } then puts "#{name} #{first} #{last}"
end
numbers = Enumerator.new { |y| a, b = 0, 1; loop { y << a; a, b = b, a + b } }
puts numbers.lazy.select(&:even?).first(8).inspect, (2**150).to_s, JSON.generate(config), JSON.parse('{"a": [1, 2.5, null]}').inspect
fiber = Fiber.new { 3.times { |i| Fiber.yield i }; :done }
puts 4.times.map { fiber.resume }.inspect
puts catch(:found) { [1, 2, 3].each { |i| throw :found, i * 10 if i == 2 }; nil }
def deep(n) = deep(n + 1)
puts begin; deep(0); rescue SystemStackError => e; e.class; end
puts Set.new([3, 1, 3]).sort.inspect, 'text with words'.gsub(/(\w+) (\w+)/, '\2 \1'), format('%05.2f|%-5s|%x', 3.14159, 'a', 255)
eval 'puts [1, 2, 3].each_slice(2).to_a.inspect'
begin
  raise ArgumentError, 'inner'
rescue => e
  begin; raise 'outer'; rescue => f; puts "#{f.message} after #{f.cause.message}"; end
end
puts Class.new(StandardError) { def message = 'own' }.new.message, ObjectSpace.respond_to?(:each_object)
exit 3

/** A node that is bounded by an array of a type variable declared after it. */
class Input<A extends B[] & Runnable, B> {}

/**
 * Restores the objects of a recorded crash and calls the method that was called with them.
 *
 * <p>What emitted tests use: {@link dev.hindsight.replay.Crash} reads a crash file, {@link
 * dev.hindsight.replay.Frame} is the state at the entry of one of its frames, {@link
 * dev.hindsight.replay.Call} calls any method, {@link dev.hindsight.replay.ReplayException} says
 * that replaying is not possible here. {@link dev.hindsight.replay.Runner} runs one test without
 * JUnit; {@link dev.hindsight.replay.Trial} finds out how objects can be made without being loaded,
 * by comparing graphs ({@code Same}).
 *
 * <p>Inside, data flows like this:
 *
 * <pre>
 * bytes --MessagePack, CrashFile--> Recorded --Restorer--> objects in a Frame
 *                                               |
 *                  AtEntry (what the frame's patch undoes), Settings (static fields)
 *                  Type (which class) -- Layout (which field) -- Trusted (write it)
 *                  Rules (which JDK class how): HashTables, Wholes, Partials
 *                  RecordedArrays, Proxies, Lambdas
 * </pre>
 *
 * <ul>
 *   <li><b>Invariant:</b> nothing but the JDK is needed, from version 11 on, and no option of the
 *       JVM; nothing is printed, but for what objects of another version of the program lack, once.
 *   <li><b>Invariant:</b> nothing is lost silently. What cannot be restored is null and stands in
 *       {@link dev.hindsight.replay.Frame#holes}.
 *   <li><b>Invariant:</b> of the program nothing runs while objects are restored but static
 *       initializers, {@code hashCode} and {@code equals} of keys of hash tables, comparators of sorted
 *       tables whose keys are redacted, and constructors of classes that have got fields since.
 *   <li><b>Invariant:</b> no field is written with a value that is not of its type; a lie in a crash
 *       file cannot corrupt the heap.
 *   <li><b>Invariant:</b> nothing recurses along references, so depth is no limit.
 *   <li><b>Invariant:</b> an exception of the called method comes out as it is.
 * </ul>
 */
package dev.hindsight.replay;

/**
 * Restores the objects of a recorded crash and calls the method that was called with them.
 *
 * <p>Emitted tests use it: {@link dev.hindsight.replay.Crash} reads a crash file, {@link
 * dev.hindsight.replay.Frame} is the state at the entry of one of its frames, {@link
 * dev.hindsight.replay.Call} calls any method, and {@link dev.hindsight.replay.ReplayException}
 * says that replaying is not possible here. {@link dev.hindsight.replay.Runner} runs tests without
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
 *   <li><b>Invariant:</b> only the JDK is needed, from version 11 on, and no option of the JVM. The
 *       only thing printed is what objects lack in another version of the program, once.
 *   <li><b>Invariant:</b> nothing is lost silently. What cannot be restored is null and is listed
 *       in {@link dev.hindsight.replay.Frame#holes}.
 *   <li><b>Invariant:</b> while objects are restored, the only code of the program that runs is
 *       static initializers, {@code hashCode} and {@code equals} of keys of hash tables,
 *       comparators of sorted tables whose keys are redacted, and constructors of classes that have
 *       got fields since.
 *   <li><b>Invariant:</b> no field is written with a value that is not of its type; a lie in a crash
 *       file cannot corrupt the heap.
 *   <li><b>Invariant:</b> nothing recurses along references, so depth is no limit.
 *   <li><b>Invariant:</b> an exception of the called method comes out as it is.
 * </ul>
 */
package dev.hindsight.replay;

/**
 * What runs the program under test for {@code hindsight generate}, in a JVM of its own.
 *
 * <ul>
 *   <li>{@link dev.hindsight.worker.Worker} executes sequences of calls that come through a pipe, and
 *       tells what came out: each a {@link dev.hindsight.worker.Run} of {@link
 *       dev.hindsight.worker.Statement}s with the classes that are {@link dev.hindsight.worker.Loaded}.
 *   <li>{@link dev.hindsight.worker.Suite} runs emitted tests, in an order that it is told.
 *   <li>{@link dev.hindsight.worker.Beside} holds back, or waits for, what the program does in other threads.
 *   <li>{@link dev.hindsight.worker.Guard} stands in for what the program must not do here: end the
 *       JVM, start processes, use the network, write or delete but for temporary files. Calls
 *       in the program's classes are rewritten to it before they are loaded.
 *   <li>{@link dev.hindsight.worker.Denied} and {@link dev.hindsight.worker.Refusals} know what the kernel
 *       has refused where no guard stands.
 * </ul>
 */
package dev.hindsight.worker;

/**
 * Runs the program under test for {@code hindsight generate}, in a JVM of its own.
 *
 * <ul>
 *   <li>{@link dev.hindsight.worker.Worker} executes sequences of calls that come through a pipe,
 *       and reports their results: each is a {@link dev.hindsight.worker.Run} of {@link
 *       dev.hindsight.worker.Statement}s with the classes that are {@link
 *       dev.hindsight.worker.Loaded}.
 *   <li>{@link dev.hindsight.worker.Suite} runs emitted tests in a given order.
 *   <li>{@link dev.hindsight.worker.Beside} delays what the program does in other threads, or waits
 *       for it.
 *   <li>{@link dev.hindsight.worker.Guard} replaces what the program must not do here: end the JVM,
 *       start processes, use the network, write or delete other than temporary files. Calls in the
 *       program's classes are rewritten to it before they are loaded.
 *   <li>{@link dev.hindsight.worker.Denied} and {@link dev.hindsight.worker.Refusals} recognise
 *       what the kernel has refused where no guard stands.
 * </ul>
 */
package dev.hindsight.worker;

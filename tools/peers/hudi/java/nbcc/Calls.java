package nbcc;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;

/**
 * Decides, before every storage call of an actor, what happens: the call proceeds, fails, or ends the actor. All later
 * calls of an ended actor are refused, also those of its heartbeat.
 *
 * <p>An actor is a local property of Spark, which the threads and tasks that the actor starts inherit.
 */
public final class Calls {
  /** The name of the local property. */
  public static final String ACTOR = "nbcc.actor";

  private static final long PATIENCE_SECONDS = 600;
  private static final Map<String, Actor> ACTORS = new ConcurrentHashMap<>();
  private static volatile String root = "";
  private static volatile SparkContext context;

  private Calls() {}

  /** Thrown by the call at which an actor ends, and by its later calls. */
  public static final class Ended extends RuntimeException {
    Ended(String call) {
      super("nbcc ended the actor at " + call);
    }
  }

  private static final Set<Thread.State> WAITS =
      EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING, Thread.State.BLOCKED);
  private static final String LOCKS = "org.apache.hudi.client.transaction.lock.";

  private static final class Actor {
    volatile Thread thread;
    final List<String> taken = new ArrayList<>();
    final SynchronousQueue<String> asks = new SynchronousQueue<>();
    final SynchronousQueue<String> answers = new SynchronousQueue<>();
    final int number;
    final String fault;
    boolean ended;

    Actor(int number, String fault) {
      this.number = number;
      this.fault = fault;
    }
  }

  /** Controls the calls under a folder. */
  public static void watch(SparkContext of, String folder) {
    context = of;
    root = folder;
    ACTORS.clear();
  }

  /**
   * Begins to control an actor. `fault` is "none", "end", "tear" or "fail" at its call `number`, counted from 0, or
   * "ask": each call waits for an answer. "tear" ends the actor in the middle of a put.
   */
  public static void begin(String actor, int number, String fault) {
    ACTORS.put(actor, new Actor(number, fault));
  }

  /** Names the current thread as the one that executes the step of an actor. */
  public static void enter(String actor) {
    ACTORS.get(actor).thread = Thread.currentThread();
  }

  /** Returns whether an actor waits for a lock of the table: its thread waits inside a lock provider or its manager. */
  public static boolean blocked(String actor) {
    Thread thread = ACTORS.get(actor).thread;
    if (thread == null || !WAITS.contains(thread.getState())) {
      return false;
    }
    boolean locks = false;
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getClassName().startsWith("nbcc.") || frame.getClassName().endsWith("ClassLoader")) {
        return false; // it waits for the answer to a call, or for a class that the first use of a lock loads
      }
      locks |= frame.getClassName().startsWith(LOCKS);
    }
    return locks;
  }

  /** Returns the calls that an actor has asked for, each as a kind and a path below the folder. */
  public static String[] taken(String actor) {
    Actor own = ACTORS.get(actor);
    synchronized (own.taken) {
      return own.taken.toArray(new String[0]);
    }
  }

  /** Waits for the next call of an actor that asks. Returns null if it has made none for so many milliseconds. */
  public static String next(String actor, long milliseconds) throws InterruptedException {
    return ACTORS.get(actor).asks.poll(milliseconds, TimeUnit.MILLISECONDS);
  }

  /** Answers the call that `next` has returned: it has no fault (""), it fails once ("fail"), or the actor ends. */
  public static void answer(String actor, String fault) throws InterruptedException {
    ACTORS.get(actor).answers.offer(fault, PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  static boolean watches(String path) {
    return !root.isEmpty() && path.startsWith(root);
  }

  /** Asks for a call. Returns false if the call is a put that ends in its middle, true if it proceeds. */
  static boolean ask(String kind, String path) throws IOException {
    Actor own = watches(path) ? ACTORS.getOrDefault(String.valueOf(actor()), null) : null;
    if (own == null) {
      return true;
    }
    String call = kind + " " + path.substring(root.length());
    int place;
    synchronized (own.taken) {
      if (own.ended) {
        throw new Ended(call);
      }
      place = own.taken.size();
      own.taken.add(call);
    }
    String fault = own.fault.equals("ask") ? answer(own, call) : place == own.number ? own.fault : "";
    if (fault.equals("fail")) {
      throw new IOException("nbcc failed " + call);
    }
    boolean tears = fault.equals("tear");
    if (tears || fault.equals("end")) {
      synchronized (own.taken) {
        own.ended = true;
      }
      if (!tears || !kind.equals("put")) {
        throw new Ended(call);
      }
    }
    return !tears;
  }

  private static String answer(Actor own, String call) throws IOException {
    try {
      boolean heard = own.asks.offer(call, PATIENCE_SECONDS, TimeUnit.SECONDS);
      String fault = heard ? own.answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS) : null;
      return fault == null ? "end" : fault;
    } catch (InterruptedException error) {
      throw new IOException(error);
    }
  }

  private static String actor() {
    TaskContext task = TaskContext.get();
    return task != null ? task.getLocalProperty(ACTOR) : context.getLocalProperty(ACTOR);
  }
}

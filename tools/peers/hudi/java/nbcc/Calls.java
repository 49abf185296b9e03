package nbcc;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

  private static final long PATIENCE_SECONDS = 120;
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

  private static final class Actor {
    final List<String> taken = new ArrayList<>();
    final SynchronousQueue<String> asks = new SynchronousQueue<>();
    final SynchronousQueue<Boolean> answers = new SynchronousQueue<>();
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
   * "ask": each call waits until it is permitted. "tear" ends the actor in the middle of a put.
   */
  public static void begin(String actor, int number, String fault) {
    ACTORS.put(actor, new Actor(number, fault));
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

  /** Permits the call that `next` has returned, or ends the actor there. */
  public static void answer(String actor, boolean proceeds) throws InterruptedException {
    ACTORS.get(actor).answers.offer(proceeds, PATIENCE_SECONDS, TimeUnit.SECONDS);
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
    boolean here = place == own.number;
    if (own.fault.equals("fail") && here) {
      throw new IOException("nbcc failed " + call);
    }
    boolean tears = own.fault.equals("tear") && here;
    if (tears || (own.fault.equals("end") && here) || (own.fault.equals("ask") && !permitted(own, call))) {
      synchronized (own.taken) {
        own.ended = true;
      }
      if (!tears || !kind.equals("put")) {
        throw new Ended(call);
      }
    }
    return !tears;
  }

  private static boolean permitted(Actor own, String call) throws IOException {
    try {
      if (!own.asks.offer(call, PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        return false;
      }
      return Boolean.TRUE.equals(own.answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
    } catch (InterruptedException error) {
      throw new IOException(error);
    }
  }

  private static String actor() {
    TaskContext task = TaskContext.get();
    return task != null ? task.getLocalProperty(ACTOR) : context.getLocalProperty(ACTOR);
  }
}

package nbcc;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
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

  private static final long PATIENCE = 100; // milliseconds until a waiting call looks whether its actor's step has ended
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

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int LONG = 20;
  private static final long UNWINDS = 2000;
  private static final String LOCKS = "org.apache.hudi.client.transaction.lock.";

  private static final class Actor {
    volatile long thread;
    volatile boolean left;
    int polls;
    final List<String> taken = new ArrayList<>();
    final SynchronousQueue<String> asks = new SynchronousQueue<>();
    final SynchronousQueue<String> answers = new SynchronousQueue<>();
    final int number;
    final String fault;
    volatile boolean ended;

    Actor(int number, String fault) {
      this.number = number;
      this.fault = fault;
    }
  }

  /** Controls the calls under a folder. */
  public static void watch(SparkContext of, String folder) {
    context = of;
    root = folder;
    ACTORS.values().forEach(each -> each.left = true);
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
    ACTORS.get(actor).thread = Thread.currentThread().getId();
  }

  /**
   * Says that the step of an actor has ended. A task that it has left behind would keep its place in Spark while its
   * call waits for an answer: it is refused.
   */
  public static void leave(String actor) {
    Actor own = ACTORS.get(actor);
    if (own != null && own.thread == Thread.currentThread().getId()) {
      own.left = true;
    }
  }

  /**
   * Returns whether an actor waits for a lock of the table that another thread has. A lock that is free has no owner,
   * so that a thread which is about to take it does not wait. A thread that sleeps between two tries does not, either:
   * its next try is a call. The server of ZooKeeper needs some milliseconds to wake a thread: it waits if it still does
   * after `LONG` polls.
   */
  private static boolean waits(Actor own) {
    ThreadInfo info = own.thread == 0 ? null : THREADS.getThreadInfo(own.thread, 4);
    if (info == null) {
      return false;
    }
    own.polls = waitsForZooKeeper(info) ? own.polls + 1 : 0;
    if (own.polls >= LONG || info.getLockOwnerId() < 0) {
      return own.polls >= LONG;
    }
    info = THREADS.getThreadInfo(own.thread, Integer.MAX_VALUE);
    if (info == null || info.getLockOwnerId() < 0) {
      return false;
    }
    boolean locks = false;
    for (StackTraceElement frame : info.getStackTrace()) {
      if (frame.getClassName().endsWith("ClassLoader")) {
        return false; // the first use of a lock loads a class
      }
      locks |= frame.getClassName().startsWith(LOCKS);
    }
    return locks;
  }

  /** Returns whether a thread waits for news of the node before its own. Its owner is on the server. */
  private static boolean waitsForZooKeeper(ThreadInfo info) {
    StackTraceElement[] stack = info.getStackTrace();
    boolean lock = false;
    for (StackTraceElement frame : stack) {
      lock |= frame.getClassName().endsWith("curator.framework.recipes.locks.LockInternals");
    }
    return lock && stack[0].getMethodName().startsWith("wait");
  }

  /** Returns the calls that an actor has asked for, each as a kind and a path below the folder. */
  public static String[] taken(String actor) {
    Actor own = ACTORS.get(actor);
    synchronized (own.taken) {
      return own.taken.toArray(new String[0]);
    }
  }

  /**
   * Waits for the next call of an actor that asks. Returns an empty text if its step has ended, and null if the actor
   * waits for a lock. An ended actor may wait for an answer of its own timeline server, whose thread has ended with it:
   * nothing of it comes after `UNWINDS` milliseconds.
   */
  public static String next(String actor, long milliseconds) throws InterruptedException {
    Actor own = ACTORS.get(actor);
    long began = System.nanoTime();
    own.polls = 0;
    while (System.nanoTime() < began + TimeUnit.MILLISECONDS.toNanos(milliseconds)) {
      boolean ended = own.ended && System.nanoTime() > began + TimeUnit.MILLISECONDS.toNanos(UNWINDS);
      if (own.left || ended) {
        return "";
      }
      String call = own.asks.poll(1, TimeUnit.MILLISECONDS);
      if (call != null || waits(own)) {
        return call;
      }
    }
    ThreadInfo info = THREADS.getThreadInfo(own.thread, Integer.MAX_VALUE);
    throw new IllegalStateException(
        actor + " has made no call for " + milliseconds + " ms, and waits for no lock: " + info);
  }

  /** Answers the call that `next` has returned: it has no fault (""), it fails once ("fail"), or the actor ends. */
  public static void answer(String actor, String fault) throws InterruptedException {
    ACTORS.get(actor).answers.offer(fault, 1, TimeUnit.MINUTES);
  }

  static boolean watches(String path) {
    return !root.isEmpty() && path.startsWith(root);
  }

  /** Asks for a call. Returns false if the call is a put that ends in its middle, true if it proceeds. */
  public static boolean ask(String kind, String path) throws IOException {
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
      boolean heard = false;
      while (!heard && !own.left) {
        heard = own.asks.offer(call, PATIENCE, TimeUnit.MILLISECONDS);
      }
      String fault = null;
      while (fault == null && !own.left) {
        fault = own.answers.poll(PATIENCE, TimeUnit.MILLISECONDS);
      }
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

package nbcc;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.util.Progressable;

/**
 * Hadoop's local files, with a question before each call (see {@link Calls}). As on an object store, a file is there
 * when its stream is closed, and all at once.
 */
public final class ControlledFileSystem extends LocalFileSystem {
  private static final ThreadLocal<Integer> INSIDE = ThreadLocal.withInitial(() -> 0);

  private interface Call<T> {
    T run() throws IOException;
  }

  @Override
  public void initialize(URI name, Configuration conf) throws IOException {
    super.initialize(name, conf);
    setWriteChecksum(false);
    setVerifyChecksum(false);
  }

  /** Asks, then calls. A call that another one makes is part of it. */
  private static <T> T asked(String kind, Path path, Call<T> call) throws IOException {
    if (INSIDE.get() == 0) {
      Calls.ask(kind, path.toUri().getPath());
    }
    INSIDE.set(INSIDE.get() + 1);
    try {
      return call.run();
    } finally {
      INSIDE.set(INSIDE.get() - 1);
    }
  }

  private FSDataOutputStream put(Path path, Call<FSDataOutputStream> create) {
    return new FSDataOutputStream(new ByteArrayOutputStream() {
      private boolean closed;

      @Override
      public void close() throws IOException {
        if (closed) {
          return;
        }
        closed = true;
        boolean whole = INSIDE.get() > 0 || Calls.ask("put", path.toUri().getPath());
        INSIDE.set(INSIDE.get() + 1);
        try (FSDataOutputStream file = create.run()) {
          file.write(buf, 0, whole ? count : count / 2);
        } finally {
          INSIDE.set(INSIDE.get() - 1);
        }
        if (!whole) {
          throw new Calls.Ended("put " + path);
        }
      }
    }, null);
  }

  @Override
  public FSDataOutputStream create(
      Path path, FsPermission mode, boolean overwrite, int buffer, short copies, long block, Progressable progress)
      throws IOException {
    Call<FSDataOutputStream> real = () -> super.create(path, mode, overwrite, buffer, copies, block, progress);
    return Calls.watches(path.toUri().getPath()) && INSIDE.get() == 0 ? put(path, real) : real.run();
  }

  @Override
  public FSDataInputStream open(Path path, int buffer) throws IOException {
    return asked("get", path, () -> super.open(path, buffer));
  }

  @Override
  public boolean rename(Path from, Path to) throws IOException {
    return asked("rename", to, () -> super.rename(from, to));
  }

  @Override
  public boolean delete(Path path, boolean recursive) throws IOException {
    return asked("delete", path, () -> super.delete(path, recursive));
  }

  @Override
  public boolean mkdirs(Path path) throws IOException {
    return asked("mkdirs", path, () -> super.mkdirs(path));
  }

  @Override
  public boolean mkdirs(Path path, FsPermission mode) throws IOException {
    return asked("mkdirs", path, () -> super.mkdirs(path, mode));
  }

  @Override
  public FileStatus[] listStatus(Path path) throws IOException {
    return asked("list", path, () -> super.listStatus(path));
  }

  @Override
  public RemoteIterator<LocatedFileStatus> listLocatedStatus(Path path) throws IOException {
    return asked("list", path, () -> super.listLocatedStatus(path));
  }

  @Override
  public FileStatus getFileStatus(Path path) throws IOException {
    return asked("stat", path, () -> super.getFileStatus(path));
  }
}

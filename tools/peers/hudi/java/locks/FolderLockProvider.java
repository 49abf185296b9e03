package org.apache.hudi.client.transaction.lock;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import nbcc.Calls;
import org.apache.hudi.client.transaction.lock.models.LockGetResult;
import org.apache.hudi.client.transaction.lock.models.LockProviderHeartbeatManager;
import org.apache.hudi.client.transaction.lock.models.LockUpsertResult;
import org.apache.hudi.client.transaction.lock.models.StorageLockData;
import org.apache.hudi.client.transaction.lock.models.StorageLockFile;
import org.apache.hudi.common.config.LockConfiguration;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.common.util.collection.Pair;
import org.apache.hudi.storage.StorageConfiguration;
import org.slf4j.LoggerFactory;

/**
 * Hudi's storage-based lock on local files. The bundle has the lock, but none of the clients of S3, GCS and Azure that
 * it needs: here the conditional puts are those of a folder. Each get and put is a storage call of its actor.
 */
public final class FolderLockProvider extends StorageBasedLockProvider {
  public FolderLockProvider(LockConfiguration of, StorageConfiguration<?> storage) {
    super(
        UUID.randomUUID().toString(),
        of.getConfig(),
        LockProviderHeartbeatManager::new,
        (owner, path, properties) -> new Folder(path),
        LoggerFactory.getLogger(FolderLockProvider.class),
        null);
  }

  /** Tries once. Hudi sleeps for a second before the next try; its lock manager has a wait of its own. */
  @Override
  public boolean tryLock(long time, java.util.concurrent.TimeUnit unit) {
    return tryLock();
  }

  /** The lock object. Its version is its text. */
  private static final class Folder implements StorageLockClient {
    private final Path file;

    Folder(String path) {
      file = local(path);
    }

    private static Path local(String path) {
      return Path.of(path.replaceFirst("^file:(//)?", ""));
    }

    @Override
    public Pair<LockUpsertResult, Option<StorageLockFile>> tryUpsertLockFile(
        StorageLockData wanted, Option<StorageLockFile> seen) {
      try {
        String text = new String(StorageLockFile.toByteArray(wanted), StandardCharsets.UTF_8);
        Calls.ask("put", file.toString());
        synchronized (Folder.class) {
          Option<String> version = seen.map(StorageLockFile::getVersionId);
          if (!version.equals(text(file))) {
            return Pair.of(LockUpsertResult.ACQUIRED_BY_OTHERS, Option.empty());
          }
          put(file, text);
        }
        return Pair.of(LockUpsertResult.SUCCESS, Option.of(new StorageLockFile(wanted, text)));
      } catch (IOException error) {
        return Pair.of(LockUpsertResult.UNKNOWN_ERROR, Option.empty());
      }
    }

    @Override
    public Pair<LockGetResult, Option<StorageLockFile>> readCurrentLockFile() {
      try {
        Calls.ask("get", file.toString());
        Option<String> found = text(file);
        if (!found.isPresent()) {
          return Pair.of(LockGetResult.NOT_EXISTS, Option.empty());
        }
        byte[] bytes = found.get().getBytes(StandardCharsets.UTF_8);
        return Pair.of(
            LockGetResult.SUCCESS,
            Option.of(StorageLockFile.createFromStream(new java.io.ByteArrayInputStream(bytes), found.get())));
      } catch (IOException error) {
        return Pair.of(LockGetResult.UNKNOWN_ERROR, Option.empty());
      }
    }

    @Override
    public Option<String> readObject(String path, boolean checksFirst) {
      try {
        Calls.ask("get", local(path).toString());
        return text(local(path));
      } catch (IOException error) {
        return Option.empty();
      }
    }

    @Override
    public boolean writeObject(String path, String text) {
      try {
        Calls.ask("put", local(path).toString());
        put(local(path), text);
        return true;
      } catch (IOException error) {
        return false;
      }
    }

    @Override
    public void close() {}

    private static Option<String> text(Path file) throws IOException {
      return Files.exists(file) ? Option.of(Files.readString(file)) : Option.empty();
    }

    private static void put(Path file, String text) throws IOException {
      Files.createDirectories(file.getParent());
      Path whole = Files.writeString(Files.createTempFile(file.getParent(), ".", ""), text);
      Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
    }
  }
}

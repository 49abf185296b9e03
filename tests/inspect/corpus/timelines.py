"""Damage to the timeline, to its archive, and to plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from nbcc.engine.storage import Storage
from nbcc.engine.timeline import decode_commit, decode_plan, encode_commit, encode_plan

from .kind import HISTORY, TIMELINE, Damage, Kind, bases, completed, cuts, empties, logs, removes, requested_time


def newest(action: str) -> Callable[[Storage], str]:
    return lambda storage: completed(storage, action)[-1]


def oldest(action: str) -> Callable[[Storage], str]:
    return lambda storage: completed(storage, action)[0]


def state_of_newest(action: str, ending: str) -> Callable[[Storage], str]:
    """The pending file of the newest completed instant."""

    def find(storage: Storage) -> str:
        time = requested_time(completed(storage, action)[-1])
        names = (entry.path for entry in storage.list(TIMELINE))
        return next(path for path in names if f"/{time}." in path and path.endswith(ending))

    return find


def instant_removed(find: Callable[[Storage], str]) -> Damage:
    """All timeline files of an instant are removed."""

    def remove(storage: Storage) -> None:
        time = requested_time(find(storage))
        storage.delete_all([e.path for e in storage.list(TIMELINE) if e.path.startswith(f"{TIMELINE}/{time}")])

    return remove


def all_instants_removed(storage: Storage) -> None:
    storage.delete_all([entry.path for entry in storage.list(TIMELINE)])


def renamed(find: Callable[[Storage], str], change: Callable[[str, str], str]) -> Damage:
    """The completion time in a timeline file's name changes. `change` takes the requested and the completion time."""

    def rename(storage: Storage) -> None:
        path = find(storage)
        requested, _, rest = path.rpartition("/")[2].partition("_")
        time, _, action = rest.partition(".")
        storage.put(f"{TIMELINE}/{requested}_{change(requested, time)}.{action}", storage.get(path))
        storage.delete(path)

    return rename


def completed_twice(storage: Storage) -> None:
    path = completed(storage)[-1]
    requested, _, rest = path.rpartition("/")[2].partition("_")
    time, _, action = rest.partition(".")
    storage.put(f"{TIMELINE}/{requested}_{int(time) + 1}.{action}", storage.get(path))


def equal_completions(storage: Storage) -> None:
    other = completed(storage)[-2].rpartition("_")[2].partition(".")[0]
    renamed(lambda s: completed(s)[-1], lambda requested, time: other)(storage)


def content_of_another(storage: Storage) -> None:
    """A commit has the content of the commit before."""
    one, other = completed(storage)[-1], completed(storage)[-2]
    storage.put(one, storage.get(other))


def as_json(storage: Storage) -> None:
    """A commit holds JSON, as before table version 8."""
    storage.put(completed(storage)[-1], b'{"partitionToWriteStats": {}, "compacted": false, "operationType": "UPSERT"}')


def archived(ending: str) -> Callable[[Storage], str]:
    return lambda storage: max(entry.path for entry in storage.list(HISTORY) if ending in entry.path)


def archive_removed(storage: Storage) -> None:
    storage.delete_all([entry.path for entry in storage.list(HISTORY)])


def manifest_of_old(storage: Storage) -> None:
    """The version file names a manifest that is not there."""
    storage.put(f"{HISTORY}/_version_", b"99")


def abandoned(action: str) -> Damage:
    """A write is requested, and its writer never came back."""

    def begin(storage: Storage) -> None:
        time = str(int(requested_time(completed(storage)[-1])) + 5000)
        storage.put(f"{TIMELINE}/{time}.{action}.requested", b"")
        inflight = f"{time}.inflight" if action == "commit" else f"{time}.{action}.inflight"
        storage.put(f"{TIMELINE}/{inflight}", b"")

    return begin


def layout_1(storage: Storage) -> None:
    """A tool of the time before version 8 wrote a commit."""
    storage.put(f"{TIMELINE}/20250101000000000.commit", b"{}")


def commit_of_6(storage: Storage) -> str:
    """The newest commit of a table of version 6, whose timeline is in .hoodie itself."""
    return max(e.path for e in storage.list(".hoodie") if e.path.endswith(".commit"))


def clustered_base(storage: Storage) -> str:
    time = requested_time(completed(storage, ".replacecommit")[-1])
    return next(path for path in bases(storage) if f"_{time}." in path)


READS: Final = "SNAP TRAVEL INCR RO"

def replaced_in_part(storage: Storage) -> None:
    """A replacing write put no empty base file into the file group that got no new row."""
    path = completed(storage, ".commit")[-1]
    commit = decode_commit(storage.get(path))
    empty = next(stat for stat in commit.stats if not stat.writes)
    storage.delete(empty.path)
    storage.put(path, encode_commit(replace(commit, stats=tuple(stat for stat in commit.stats if stat != empty))))


def merged_log_planned_again(storage: Storage) -> None:
    """A compaction plan lists the logs that a log compaction had merged, and its log."""
    time = requested_time(completed(storage, ".commit")[-1])
    path = f"{TIMELINE}/{time}.compaction.requested"
    plan = decode_plan(storage.get(path), path)
    names = tuple(log.rpartition("/")[2] for log in logs(storage))
    [planned] = plan.operations
    assert {*planned.logs} < {*names}
    storage.put(path, encode_plan(replace(plan, operations=(replace(planned, logs=names),))))
    done = completed(storage, ".commit")[-1]
    commit = decode_commit(storage.get(done))
    stats = tuple(stat._replace(log_files_compacted=len(names)) for stat in commit.stats)
    storage.put(done, encode_commit(replace(commit, stats=stats)))


KINDS: Final[Mapping[str, Kind]] = {
    "a file group left out of a replace": Kind(
        "ours MOR replaced", replaced_in_part, "replaced-in-part", "SNAP TRAVEL INCR"
    ),
    "a log planned again after its log compaction": Kind(
        "ours MOR log-compacted", merged_log_planned_again, "log-in-two-slices", "QUIET PART"
    ),
    "a commit cut": Kind("1.2.0 COW", cuts(newest(".commit")), "unreadable", f"{READS} ATOM"),
    "a commit emptied": Kind("1.2.0 MOR", empties(newest(".deltacommit")), "unreadable", f"{READS} ATOM"),
    "a commit in JSON": Kind("1.2.0 COW", as_json, "unreadable", f"{READS} ATOM"),
    "a commit with the content of another": Kind(
        "1.2.0 COW", content_of_another, "listed-file-foreign", f"{READS} ATOM"
    ),
    "a completed file removed": Kind("1.2.0 COW", removes(newest(".commit")), "writer-gone", "", "AT RISK"),
    "a completed file of a compaction removed": Kind("1.2.0 MOR", removes(newest(".commit"))),
    "an instant removed": Kind("1.2.0 COW", instant_removed(newest(".commit")), "orphan-file", "", "AT RISK"),
    "the oldest instant removed": Kind("1.2.0 COW", instant_removed(oldest(".commit")), "orphan-file", "ATOM ARCH"),
    "an instant that a plan proves removed": Kind(
        "1.2.0 MOR",
        instant_removed(oldest(".deltacommit")),
        "orphan-file",
        "ATOM QUIET PART ARCH",
        also="log-in-two-slices",
    ),
    "all instants removed": Kind("1.2.0 COW", all_instants_removed, "timeline-lost", f"{READS} ATOM ARCH"),
    "a requested file removed": Kind("1.2.0 COW", removes(state_of_newest(".commit", "requested"))),
    "an inflight file removed": Kind("1.2.0 MOR", removes(state_of_newest(".deltacommit", "inflight"))),
    "the plan of a completed compaction removed": Kind(
        "1.2.0 MOR", removes(state_of_newest(".commit", "requested")), verdict="UNDETERMINED"
    ),
    "a commit before its request": Kind(
        "1.2.0 MOR", renamed(newest(".deltacommit"), lambda r, c: str(int(r) - 1)), "completed-before-requested", "MONO"
    ),
    "two commits at one time": Kind("1.2.0 COW", equal_completions, "completed-before-requested", "MONO"),
    "a commit in the future": Kind(
        "1.2.0 COW", renamed(newest(".commit"), lambda r, c: "29990101000000000"), "future-instant", "SNAP INCR MONO"
    ),
    "a commit with two completion times": Kind("1.2.0 MOR", completed_twice, "completed-twice", "TRAVEL MONO"),
    "an invalid completion time": Kind(
        "1.2.0 MOR", renamed(newest(".deltacommit"), lambda r, c: "20261399999999999"), "no-time", "MONO"
    ),
    "a write that was abandoned": Kind("1.2.0 MOR", abandoned("deltacommit"), "writer-gone", "", "AT RISK"),
    "a write of COPY_ON_WRITE that was abandoned": Kind("1.2.0 COW", abandoned("commit"), "writer-gone", "", "AT RISK"),
    "a commit of the old layout": Kind("1.2.0 COW", layout_1, "version-contradicts-layout", "", "AT RISK"),
    "a clean cut": Kind("1.2.0 COW archived", cuts(newest(".clean")), "unreadable", "CLEAN"),
    "a file of the archive removed": Kind("1.2.0 COW archived", removes(archived("_0.parquet")), "unreadable", "ARCH"),
    "a file of the archive cut": Kind("1.2.0 COW archived", cuts(archived("_0.parquet")), "unreadable", "ARCH"),
    "a manifest of the archive removed": Kind(
        "1.2.0 COW archived", removes(archived("manifest_")), "unreadable", "ARCH"
    ),
    "a manifest of the archive cut": Kind("1.2.0 COW archived", cuts(archived("manifest_"), 3), "unreadable", "ARCH"),
    "the archive's version of another table": Kind("1.2.0 COW archived", manifest_of_old, "unreadable", "ARCH"),
    "the archive removed": Kind("1.2.0 COW archived", archive_removed, "orphan-file", "ATOM ARCH"),
    "a base file of version 6 removed": Kind(
        "version 6 COW", lambda s: s.delete(bases(s)[-1]), "listed-file-missing", "SNAP RO"
    ),
    "a base file of version 6 cut": Kind("version 6 MOR", cuts(lambda s: bases(s)[-1]), "listed-file-size", "SNAP RO"),
    "a log of version 6 cut": Kind("version 6 MOR", cuts(lambda s: logs(s)[-1]), "listed-file-size", "SNAP"),
    "an append of version 6 that did not complete": Kind(
        "version 6 MOR", lambda s: s.put(logs(s)[-1], s.get(logs(s)[-1]) + b"#HUDI#"), "listed-file-size", "", "AT RISK"
    ),
    "a commit of version 6 cut": Kind("version 6 COW", cuts(commit_of_6), "unreadable", "SNAP RO ATOM"),
    "a completed file of version 6 removed": Kind("version 6 COW", removes(commit_of_6), "writer-gone", "", "AT RISK"),
    "a clustered file removed": Kind(
        "1.2.0 COW clustered", removes(clustered_base), "listed-file-missing", "SNAP TRAVEL RO"
    ),
    "the replacecommit of a clustering removed": Kind("1.2.0 COW clustered", removes(newest(".replacecommit"))),
    "a commit of 1.1 cut": Kind("1.1.1 COW", cuts(newest(".commit")), "unreadable", f"{READS} ATOM"),
    "a log of 1.1 removed": Kind(
        "1.1.1 MOR", lambda s: s.delete(logs(s)[-1]), "listed-file-missing", "SNAP TRAVEL INCR"
    ),
    "a base file of 1.0 removed": Kind(
        "1.0.2 COW", lambda s: s.delete(bases(s)[-1]), "listed-file-missing", "SNAP TRAVEL INCR RO"
    ),
    "a base file of a table with a record index removed": Kind(
        "1.2.0 COW record index", lambda s: s.delete(bases(s)[-1]), "listed-file-missing", "SNAP TRAVEL INCR RO"
    ),
    "a stray file in the timeline": Kind("1.2.0 COW", lambda s: s.put(f"{TIMELINE}/notes.txt", b"hello")),
}

"""Records the objects that each segment (the calls of one model step) accessed, and checks that it was executed
atomically.

Treating a segment as one step is sound if no other actor can observe a difference (Lipton's reduction). An atomic
segment consists of lock acquisitions, then at most one call that does not commute with some call of another actor, then
lock releases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, groupby
from typing import NamedTuple

from .calls import ARCHIVE, kind_of, parsed


class Access(NamedTuple):
    """One executed call: the actor, the model step (counted from 0), the object, and whether the actor held the lock.
    """

    actor: str
    step: int
    verb: str
    path: str
    locked: bool
    outcome: str = "done"  # "exists": a put-if-absent that lost; "missing": a get or delete of nothing

    @property
    def is_write(self) -> bool:
        return self.verb in {"put", "delete", "clock.take"}

    @property
    def resource(self) -> str:
        return "clock" if self.verb == "clock.take" else self.path


def is_unobserved(path: str) -> bool:
    """Return True for an object that does not affect any actor's result: an inflight file, a marker, partition
    metadata, a file of the record index or a state checkpoint. A file of the index counts once its instant is completed
    on the timeline that the actor has listed before. Reads that use state checkpoints are covered by the promise SAME.
    """
    kind = kind_of(path)
    return kind in {"marker", "partition_metadata", "index", "checkpoint"} or kind.endswith("inflight")


def violations(accesses: Iterable[Access], crashed: Mapping[str, int] | None = None) -> list[str]:
    """Return one sentence for each segment (the calls of one model step) that was not atomic: another actor could have
    observed its intermediate state.

    ``crashed`` maps each crashed actor to the step in which it crashed. A crashed actor makes no more calls, so later
    calls of other actors cannot interleave with its segment.
    """
    accesses = list(accesses)
    starts = {(each.step, each.actor) for each in accesses if each.verb == "put" and kind_of(each.path) in _STARTED}
    observed = [access for access in accesses if not is_unobserved(access.path)]
    attempts = unread_attempts(observed)
    accesses = [access for access in observed if access.path not in attempts]
    segments = {
        of: _without_explanation([*group])
        for of, group in groupby(accesses, key=lambda access: (access.step, access.actor))
    }
    # What explains an error decides nothing, so that it conflicts with nothing that others do meanwhile.
    conflicting = _Conflicts([*chain.from_iterable(segments.values())], crashed or {})
    sentences = []
    for (step, actor), segment in segments.items():
        calls = _without_listed_plan(segment) if (step, actor) in starts else segment
        if broken := _broken(calls, conflicting):
            sentences.append(f"step {step} of {actor} is not atomic: {broken}")
    return sentences


def without_later_listings(accesses: Iterable[Access], segments: Collection[tuple[str, int]]) -> list[Access]:
    """Return the accesses without all listings of the timeline but the first in each of the segments (actor, step).

    The actor reads as of the greatest completion time in its first listing. Every later listing shows all instants that
    completed by this time, and the actor uses no other instant.
    """
    begun: set[tuple[str, int]] = set()
    kept = []
    for access in accesses:
        segment = (access.actor, access.step)
        lists = segment in segments and access.verb.startswith("list") and kind_of(access.path) == "timeline"
        if not (lists and segment in begun):
            kept.append(access)
        if lists and access.verb == "list.end":
            begun.add(segment)
    return kept


def unread_attempts(accesses: Iterable[Access]) -> set[str]:
    """Return the data files that several actors put for the same instant and that no actor has read.

    Such files have no effect on other actors, because readers open only data files that a completed instant lists.
    """
    putters: dict[str, set[str]] = defaultdict(set)
    files: dict[str, str] = {}
    read = set()
    for access in accesses:
        if kind_of(access.path) not in ("log", "base"):
            continue
        if access.verb == "put":
            files[access.path] = parsed(access.path)["instant"]
            putters[files[access.path]].add(access.actor)
        elif access.verb == "get" and access.outcome == "done":
            read.add(access.path)
    return {path for path, instant in files.items() if len(putters[instant]) > 1 and path not in read}


def _broken(segment: list[Access], conflicting: _Conflicts) -> str:
    """Return why a segment does not have the form of an atomic one (see the module's docstring), or '' if it has."""
    past = ""  # the call after which only releases may follow
    for access in _merged_listings(segment):
        if access.verb == "lock.release":
            past = past or "lock.release"
        elif access.verb == "lock.acquire":
            if past:
                return f"lock.acquire comes after {past}"
        elif other := conflicting.with_(access):
            call = f"{access.verb} {access.path}".strip()
            if past:
                return f"{call} (conflicts with {other.verb} of {other.actor} in step {other.step}) comes after {past}"
            past = call
    return ""


def _without_explanation(segment: list[Access]) -> list[Access]:
    """Drop the timeline accesses after a failed get at the end of a segment, by which a reader finds out why the file
    is missing.
    """
    if not segment:
        return segment
    for missing, shows_why in _EXPLANATIONS.items():
        last = next((n for n in reversed(range(len(segment))) if not _explains(segment[n], shows_why)), -1)
        end = segment[last]
        if (end.verb, end.outcome) == ("get", "missing") and kind_of(end.path) in missing:
            return segment[: last + 1]
    return segment


def _without_listed_plan(segment: Iterable[Access]) -> list[Access]:
    """Drop the reads of a plan that the segment has listed. A plan never changes, so a plan that is still there has the
    content that it had when it was listed. A runner that finds its plan removed lists the timeline again.
    """
    calls: list[Access] = []
    listed = False
    for access in segment:
        listed = listed or (access.verb, kind_of(access.path)) == ("list.end", "timeline")
        if not (listed and access.verb == "get" and kind_of(access.path) in _STARTED.values()):
            calls.append(access)
    return calls


_STARTED = {f"{action}.inflight": f"{action}.requested" for action in ("compaction", "logcompaction")}
"""The inflight state that a runner puts, and the plan that the runner has read."""

AFTER_LISTING = {"version", "archive", "restore.requested"}
"""The objects that complete a listing of the timeline: the archive, and the plans of the restores that it shows."""

_TIMELINE = ".hoodie/timeline/"
_PLANS = frozenset({"clean.requested", "restore.requested"})
_EXPLANATIONS = {
    frozenset({"log", "base"}): _PLANS | {"archive"},
    frozenset({"log", "base", "deltacommit", "commit", "compaction.requested"}): _PLANS,
}
"""Objects that a reader needs (data files, the commits that list them, plans) -> the objects that show why they are
missing: the plans of cleans and restores. An archived clean may have deleted a data file.
"""


def _explains(access: Access, shows_why: Collection[str]) -> bool:
    if access.verb == "get":  # the archive comes first: an instant that it does not have was not archived
        kind = kind_of(access.path)
        return kind == "version" or (access.outcome == "done" and kind in shows_why)
    return access.verb.startswith("list") and _folder(access.path).startswith(_TIMELINE)


def _merged_listings(segment: list[Access]) -> Iterator[Access]:
    """Merge the start and the end of each listing into one access, and a listing of the timeline with the archive read
    after it.

    An instant that an archiver moves between the listing and the archive read is still found by one of the two.
    """
    previous: Access | None = None
    for access in segment:
        ends_it = access.verb == "list.end" and previous is not None and previous.verb == "list.begin"
        if ends_it and previous is not None and previous.path == access.path:
            previous = access
        elif previous is None or not _completes_listing(access, previous):
            yield access
            previous = access
        # The archive files belong to the read of its version, so `previous` stays the listing.


def _completes_listing(access: Access, previous: Access) -> bool:
    """Return whether `access` reads the archive, or the plan of a listed restore, which never changes and stays."""
    lists_timeline = previous.verb == "list.end" and kind_of(previous.path) == "timeline"
    return lists_timeline and access.verb == "get" and kind_of(access.path) in AFTER_LISTING


class _Conflicts:
    """Searches the recorded accesses for one of another actor that does not commute with a given access."""

    def __init__(self, accesses: list[Access], crashed: Mapping[str, int]) -> None:
        self._crashed = crashed
        self._on: dict[str, list[Access]] = defaultdict(list)  # a write is stored under its folders as well
        self._deletions = [access for access in accesses if access.verb.startswith("delete")]
        for access in accesses:
            if access.verb.startswith("list"):
                self._on[_folder(access.path)].append(access)
            elif access.resource:
                self._on[access.resource].append(access)
                if access.is_write:
                    for folder in _folders(access.path):
                        self._on[folder].append(access)

    def with_(self, access: Access) -> Access | None:
        if access.verb.startswith("lock"):
            return None
        mine = _folder(access.path) if access.verb.startswith("list") else access.resource
        candidates = list(self._on[mine])
        if access.is_write:
            candidates += [other for folder in _folders(access.path) for other in self._on[folder]]
        alive = (other for other in candidates if self._both_alive(other, access))
        found = (other for other in alive if _conflict(access, other))
        return next((other for other in found if not self._deleted_between(access, other)), None)

    def _deleted_between(self, one: Access, other: Access) -> bool:
        put, read = (one, other) if one.verb == "put" else (other, one)
        if put.verb != "put" or read.verb != "get" or read.outcome != "missing":
            return False
        return any(put.step < each.step < read.step and _may_delete(each, put.path) for each in self._deletions)

    def _both_alive(self, other: Access, access: Access) -> bool:
        both = ((other, access), (access, other))
        return all(self._crashed.get(one.actor, another.step) >= another.step for one, another in both)


def _may_delete(access: Access, path: str) -> bool:
    """Return whether the deletion `access` may have deleted the object at `path`. A `delete.all` deletes several
    objects, but its access names only the first.
    """
    folder = path.rpartition("/")[0]
    return access.path == path or (access.verb == "delete.all" and access.path.rpartition("/")[0] == folder)


def _is_in_vain(one: Access, other: Access) -> bool:
    """Return whether the access `one` tries to delete an object that the access `other` has already deleted. The second
    deletion changes nothing, so it commutes with the first.
    """
    return one.verb == "delete" and one.outcome == "missing" and other.step < one.step


def _conflict(one: Access, other: Access) -> bool:
    if one.actor == other.actor or not (one.is_write or other.is_write) or (one.locked and other.locked):
        return False
    if one.verb == other.verb == "delete":  # the second deletion changes nothing
        return False
    if any(free(*pair) for free in (_is_archived, _is_in_vain) for pair in ((one, other), (other, one))):
        return False
    both_writes_elsewhere = one.is_write and other.is_write and one.resource != other.resource
    return not both_writes_elsewhere and not _immutable_read(one, other) and not _immutable_read(other, one)


def _is_archived(read: Access, delete: Access) -> bool:
    """Return whether the access `delete` removes an archived instant from the active timeline without changing the
    result of the access `read`.

    A reader that no longer finds the instant's file finds the same content in the archive. An actor that lists the
    timeline under the lock uses only the pending instants, the newest time and the archive. The deletion changes none
    of them.
    """
    if delete.verb != "delete" or "completed" not in parsed(delete.path):
        return False
    return read.verb == "get" or (read.verb.startswith("list") and read.locked)


def _immutable_read(read: Access, write: Access) -> bool:
    """Return whether `read` got an object and `write` is a put. The put cannot change the object that was read, because
    each object is put only once.
    """
    return read.verb == "get" and read.outcome == "done" and write.verb == "put"


def _folder(prefix: str) -> str:
    return prefix.rstrip("/") + "/"


def _folders(path: str) -> list[str]:
    if path.startswith(ARCHIVE):  # listings of the active timeline skip the archive
        return [ARCHIVE]
    parts = path.split("/")[:-1]
    return ["/"] + ["/".join(parts[: depth + 1]) + "/" for depth in range(len(parts))]

"""Promise ARCH: archiving loses no instant, and archives older instants first."""

from __future__ import annotations

from ..kernel.reader import ENDS, READER, SURE
from ..kernel.writer import WRITER
from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.archiving.mechanism import ARCHIVER
from ..mechanisms.cleaning.rules import CompletedClean
from ..mechanisms.log_compaction.rules import ADDS_FILES
from ..mechanisms.requests.mechanism import requests_without_lock
from ..mechanisms.restores.rules import Restored
from ..model import Model
from .promise import Promise, value_in

_IRRELEVANT = ("clock", "lock", "crashes", "archivings")


def archive_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise ARCH: each completed instant is on the active or the archived timeline, and older instants are
    archived first. A pending instant older than an archived instant must have been rolled back. A reader of the active
    and the archived timeline finds every instant that completed by the reader's time.
    """
    archive, removed = model.component(after, "archive"), model.component(after, "removed")
    if lost := removed - archive:
        return f"the instant t{min(lost)} has left the active timeline and is not archived"
    if hole := _hole(model, after, removed):
        return hole
    newest, undone = max(archive, default=0), _rolled_back(model, after) | _without_files(model, after)
    for instant in model.timeline(after):
        if instant.completed is None and instant.requested < newest and instant.requested not in undone:
            return (
                f"the {instant.action} requested at t{instant.requested} is pending, and t{newest} is archived past "
                "it: its files look older than the timeline"
            )
    return _needed_there(model, after) or _readers_miss(model, after)


def _needed_there(model: Model, state: State) -> str | None:
    """Return a sentence if an instant has left the active timeline that readers search for only there: the newest clean
    (it has the horizon), a restore (it has what is undone), or the last decision.
    """
    removed, published = model.component(state, "removed"), model.component(state, "published")
    cleans = [entry for entry in published if isinstance(entry, CompletedClean)]
    newest = max(cleans, key=lambda each: each.completed, default=None)
    if newest and newest.requested in removed:
        what = f"the newest clean, of t{newest.requested},"
        return f"{what} has left the active timeline: readers do not find its horizon"
    for entry in published:
        if isinstance(entry, Restored) and entry.requested in removed:
            return f"the restore of t{entry.requested} has left the active timeline: readers do not find what it undid"
    # An entry that is a number only reserves a time and has no instant.
    last = [entry for entry in value_in(model, state, "decisions")[-1:] if not isinstance(entry, int)]
    if last and last[0].requested in removed:
        return f"the last decided instant, of t{last[0].requested}, has left the active timeline"
    return None


def _rolled_back(model: Model, state: State) -> frozenset[int]:
    return frozenset(each.target for each in value_in(model, state, "rollbacks") if each.removed)


def _without_files(model: Model, state: State) -> frozenset[int]:
    """Return the requested times of writes that have put no file. A request without the lock may be put below the floor
    of an archiver; its writer withdraws it before it puts a file.
    """
    if not requests_without_lock(model.protocol):
        return frozenset()
    writers = (model.component(state, me) for me in model.actors_of(WRITER))
    return frozenset(writer.requested for writer in writers if not writer.files)


def _hole(model: Model, state: State, removed: frozenset[int]) -> str | None:
    writes = [e.requested for e in model.component(state, "published") if isinstance(e, ADDS_FILES)]
    newest = max((each for each in writes if each in removed), default=0)
    older = min((each for each in writes if each not in removed and each < newest), default=None)
    return f"t{newest} has left the active timeline before t{older}, which is older" if older else None


def _readers_miss(model: Model, state: State) -> str | None:
    gone = model.component(state, "removed")
    entries = [entry for entry in model.component(state, "published") if entry.requested in gone]
    for name in model.actors_of(READER):
        reader = model.component(state, name)
        # Only then its instants are final.
        if reader.step in (SURE, *ENDS):
            for entry in entries:
                if entry.completed <= reader.time and entry.requested not in reader.instants:
                    return f"{name} reads as of t{reader.time} and has found t{entry.requested} on neither timeline"
    return None


def _relevant(model: Model) -> tuple[str, ...]:
    return tuple(name for name in model.components if name not in _IRRELEVANT)


ARCH = Promise(
    name="ARCH",
    about="Each completed instant is found, active or archived. Nothing is archived past a pending one, unless it was "
    "rolled back, or requested without the lock and has no file. QUIET judges whether archiving changes an answer.",
    source="RFC-66 and the LSM timeline, completion time look-up; docs/contract.md, ARCH",
    kind="state",
    holds=archive_holds,
    sometimes=lambda model, state: bool(model.component(state, "removed")),
    reads=lambda model: _relevant(model) if model.actors_of(ARCHIVER) else ("published",),
    unfit=lambda model: None if model.actors_of(ARCHIVER) else "the world has no archiver",
)

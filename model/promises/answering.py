"""The promises ANSWER and FRESH. ANSWER specifies which reads must be answered. FRESH specifies how recent a read must
be if the query specifies no time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import takewhile
from typing import Any, NamedTuple

from ..answers import BadInput, Cleaned, Kind, NoAnswer
from ..kernel.publication import Publication
from ..kernel.reader import READER
from ..kernel.table import Write
from ..machine.state import State
from ..machine.transition import DEAD, Step, record_of
from ..mechanisms.announcements.author import DECIDING
from ..mechanisms.archiving.mechanism import ARCHIVER
from ..mechanisms.archiving.reader import ReadBegun
from ..mechanisms.consumers import CONSUMER, time_of
from ..model import Model
from ..refusals import refusal_of
from .promise import Promise, components_in, value_in
from .sentences import write_named
from .shape import windows_of
from .view import View, on_table, view_of

CONTEXT = ("cleans", "log_plans", "restores", "savepoints")
"""The components besides the table that decide whether a read is answered."""


class Read(NamedTuple):
    """A query: its kind, and the times that the user specified."""

    kind: Kind
    times: tuple[float, ...] = ()

    def __str__(self) -> str:
        if self.kind == "as_of":
            return f"the read as of t{self.times[0]}"
        name = {"incremental": "the incremental read", "changes": "the change log"}.get(self.kind, f"the {self.kind}")
        return name + (f" (t{self.times[0]}, t{self.times[1]}]" if self.times else "")


def answer_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise ANSWER: each read at a settled and retained time is answered. All other reads are refused with the
    error class that the contract requires.
    """
    view, contract = view_of(model, after), _Contract(model, after)
    bounds = model.read_bounds(after)
    for read in _reads(view, contract.settled):
        right = contract.refusals(read)
        refusal = refusal_of(read.kind, read.times, bounds, contract.requests)
        found: type[Exception] | None = type(refusal) if refusal else None
        if not found and read.kind == "as_of" and model.rules.is_refused(view.table, read.times[0]):
            found = NoAnswer
        if found and not right:
            return f"{read} is refused ({found.__name__}), and its times are settled and retained"
        if right and found not in right:
            class_ = " or ".join(sorted(each.__name__ for each in right))
            return f"{read} is {f'refused as {found.__name__}' if found else 'answered'}, not refused as {class_}"
    return _reader_refused(model, after, contract) if _readers(model) else None


def _reads(view: View, settled: int) -> Iterator[Read]:
    yield Read("snapshot")
    yield Read("read_optimized")
    # Also times at which nothing happened: between two instants, and in the future.
    later = (settled, settled + 0.5, settled + 2)
    for time in (*view.asked_times, *later):
        yield Read("as_of", (time,))
    for time in (*sorted(view.known_times), *later):
        for times in ((0, time), (time, max(time, settled))):
            yield Read("incremental", times)
            yield Read("changes", times)


class _Contract:
    def __init__(self, model: Model, state: State) -> None:
        published = model.component(state, "published")
        restores = value_in(model, state, "restores")
        completions = {entry.completed for entry in published}
        self.settled: int = max((*completions, *(each.requested for each in restores)), default=0)
        requests = {entry.requested for entry in published if _puts_data(entry)}
        plans = (*model.component(state, "plans"), *value_in(model, state, "log_plans"))
        requests |= {plan.requested for plan in plans}
        self.requests = requests - completions
        self.first = min((entry.completed for entry in published if _puts_data(entry)), default=None)
        self.horizon = max((clean.horizon for clean in value_in(model, state, "cleans")), default=0)
        self.undone = [(each.at, each.requested) for each in restores]
        savepoints = value_in(model, state, "savepoints")
        self.pinned = {each.at for each in savepoints if each.completed is not None}

    @property
    def values(self) -> Hashable:
        times = frozenset(self.requests), frozenset(self.pinned), tuple(self.undone)
        return self.settled, self.first, self.horizon, times

    def refusals(self, read: Read) -> set[type[Exception]]:
        found: set[type[Exception]] = set()
        if any(time > self.settled for time in read.times):
            found.add(BadInput)
        if any(self.is_undone(time) for time in read.times):
            found.add(Cleaned)
        if not read.times:
            return found
        start, is_as_of = read.times[0], read.kind == "as_of"
        # Only a read as of a savepoint's own time may be earlier than the horizon: a savepoint keeps the files of one
        # state, not of a window.
        if start < self.horizon and not (is_as_of and start in self.pinned):
            found.add(Cleaned)
        if is_as_of and (start in self.requests or self.first is None or start < self.first):
            found.add(BadInput)
        return found

    def is_undone(self, time: float) -> bool:
        return any(at < time < requested for at, requested in self.undone)


def _puts_data(entry: Any) -> bool:
    return entry.action in ("deltacommit", "commit", "replacecommit")


def _reader_refused(model: Model, state: State, contract: _Contract) -> str | None:
    undone = {each for restore in model.restores(state) for each in restore.undone}
    for name in model.actors_of(READER):
        own = model.component(state, name)
        # A restore also undoes pending plans, whose barriers the reader has used.
        needed = {plan for plan in own.plans if plan <= own.time}
        is_undone = bool(undone & needed) or contract.is_undone(own.time)
        # A refusal is right if a clean or a restore explains it.
        if own.step == "refused" and own.time >= contract.horizon and not is_undone:
            return f"{name} has refused its read as of t{own.time}, which is settled and retained"
    for name in model.actors_of(CONSUMER):
        own = model.component(state, name)
        is_undone = bool(undone & {*own.kept}) or any(map(contract.is_undone, (own.after, own.until)))
        if own.step == "refused" and own.after >= contract.horizon and not is_undone:
            return f"{name} has refused its window (t{own.after}, t{own.until}], which is settled and retained"
    return None


def _on_answers(model: Model) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*on_table(model), *components_in(model, *CONTEXT), *_readers(model))))


def _shape(model: Model, *states: State) -> Hashable | None:
    if not components_in(model, *CONTEXT):
        return windows_of(model, *states)
    [state] = states
    view, bounds = view_of(model, state), model.read_bounds(state)
    ranges = tuple((each.at, each.requested, each.undone) for each in model.restores(state))
    writes = tuple((write.requested, write.completed) for write in view.table.writes)
    refused = (model.component(state, name) for name in _readers(model))
    return (
        *(view.known_times, bounds._replace(restores=()), ranges, writes, _Contract(model, state).values),
        tuple(own for own in refused if own.step == "refused"),
    )


def _readers(model: Model) -> tuple[str, ...]:
    actors = (*model.actors_of(READER), *model.actors_of(CONSUMER))
    return actors if components_in(model, "cleans", "restores") else ()


def fresh_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise FRESH: if a write was acknowledged before a read began, the read includes that write. FRESH covers
    readers, consumers, and queries that specify no time.
    """
    newest = _newest(model.component(after, "published"))
    if newest is not None and (settled := model.settled(after)) < (newest.completed or 0):
        return f"a read that begins now is as of t{settled}, and {write_named(newest, newest.requested)} has returned"
    for entry in value_in(model, after, "early"):
        if isinstance(entry, Write) and model.component(after, entry.actor).step not in (DEAD, *DECIDING):
            return f"{write_named(entry, entry.requested)} has returned, and reads ignore it: an earlier one is missing"
    if before is None or step is None:
        return None
    if step.actor in model.actors_of(CONSUMER):
        return _window_ends_early(model, before, step, after)
    return _time_is_too_early(model, before, step, after) if step.actor in model.actors_of(READER) else None


def _newest(published: tuple[Any, ...]) -> Write | None:
    writes = (entry for entry in published if isinstance(entry, Write))
    return max(writes, key=lambda write: write.completed or 0, default=None)


def _time_is_too_early(model: Model, before: State, step: Step, after: State) -> str | None:
    """Return a sentence if a reader's time is earlier than the completion time of the newest write that its read must
    include; None otherwise.

    The first listing shows every instant that existed when the reader began; the newest of them determines the reader's
    time. In a world with an archiver, a reader may change to a later time before it answers, so only its final time is
    checked. A reader's time never decreases.
    """
    had, has = model.component(before, step.actor), model.component(after, step.actor)
    published = model.component(before, "published")
    newest, time = None, has.time
    if model.actors_of(ARCHIVER):
        begun = record_of(has, ReadBegun).begun if has.step == "answered" else 0
        newest = next((e for e in published if isinstance(e, Write) and e.completed == begun), None)
    elif has.step == "listing" != had.step:
        newest = _newest(published)
        time = max((entry.completed for entry in published if entry.requested in has.at_start), default=0)
    elif had.step == "listing" != has.step and has.is_reading:
        # What the listing showed behind a missing instant had not returned (`parallel_publication`).
        newest = _newest(tuple(takewhile(lambda entry: entry.requested in had.at_start, published)))
    if newest is not None and time < (newest.completed or 0):
        return f"{step.actor} reads as of t{time}, and began after {write_named(newest, newest.requested)} had returned"
    if had.is_reading and (has.is_reading or has.step == "answered") and has.time < had.time:
        return f"{step.actor} reads as of t{has.time}, and had taken t{had.time} before"
    return None


def _window_ends_early(model: Model, before: State, step: Step, after: State) -> str | None:
    own = model.component(after, step.actor)
    if step.action != "consumer_takes_window":
        return None
    writes = [entry for entry in model.component(before, "published") if isinstance(entry, Write)]
    newest = max(writes, key=lambda write: time_of(write, model.protocol), default=None)
    if newest is not None and own.until < time_of(newest, model.protocol):
        return f"the window of {step.actor} ends at t{own.until}, and {write_named(newest, newest.requested)} returned"
    return None


def _on_listings(model: Model) -> tuple[str, ...]:
    readers = (*model.actors_of(READER), *model.actors_of(CONSUMER))
    early = components_in(model, "early")
    publishers = model.composition.facts(Publication) if early else ()
    return tuple(dict.fromkeys(("published", *early, *model.settled_reads, *readers, *publishers)))


def _has_returned(model: Model, state: State) -> bool:
    return _newest(model.component(state, "published")) is not None


ANSWER = Promise(
    name="ANSWER",
    about="A read at a settled, retained time is answered; every other read is refused by the class of the contract.",
    source="docs/contract.md, ANSWER; RFC-66, time travel queries",
    kind="state",
    holds=answer_holds,
    sometimes=_has_returned,
    reads=_on_answers,
    shape=_shape,
)
FRESH = Promise(
    name="FRESH",
    about="A read that begins after a write returned is as of that write's completion or later.",
    source="docs/contract.md, FRESH; RFC-66, reader expectations",
    kind="step",
    holds=fresh_holds,
    sometimes=_has_returned,
    reads=_on_listings,
)

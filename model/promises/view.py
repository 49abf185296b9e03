"""Computes, for one state, the completed writes and the reads of the table, so that promises can compare them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any, TypeVar

from ..kernel.merge import Fold, logs_of
from ..kernel.reader import KEPT_TABLE, READER
from ..kernel.reads import base_file, changes
from ..kernel.table import Compaction, Log, Table, Write
from ..machine.state import State
from ..machine.transition import record_of
from ..mechanisms.insert_overwrite import ranks_at
from ..mechanisms.restores.listing import SeenRestores, ever_published
from ..mechanisms.restores.rules import Restore, hides
from ..model import Model
from ..slices import FileSlice
from ..variants.as_of import AsOf
from ..variants.listing import ReaderListing
from ..variants.windows import Windows
from . import oracle
from .oracle import Row
from .promise import components_in
from .valuations import Valuation, names_for, renamed

Result = TypeVar("Result")
Published = tuple[Write | Compaction, ...]


class View:
    """Caches the reads of one table. States with equal tables share one `View` object (see `view_of`)."""

    def __init__(self, model: Model, table: Table, published: Published) -> None:
        self.model, self.table, self.published = model, table, published
        self.merger = model.merger
        self.groups = range(model.world.groups)
        self._results: dict[Hashable, Any] = {}

    def _once(self, key: Hashable, make: Callable[[], Result]) -> Result:
        if key not in self._results:
            self._results[key] = make()
        result: Result = self._results[key]  # The key includes the name of the calling method.
        return result

    # Reads, by slices and plans.

    def as_of(self, group: int, time: float = inf) -> Fold:
        """Return the merge tree for reading a file group as of a time (default: a snapshot)."""
        return self._once(("as of", group, time), lambda: self.model.rules.as_of(self.table, group, time))

    def window(self, group: int, after: float, until: float) -> Fold:
        """Return the merge tree of an incremental query of the window (after, until] in a file group."""
        return self._once(
            ("window", group, after, until),
            lambda: self.model.rules.incremental(self.table, group, after, until),
        )

    def changes(self, group: int, after: float, until: float) -> tuple[Fold, Fold]:
        """Return the merge trees that a change log of the window (after, until] compares in a file group."""
        return self._once(
            ("changes", group, after, until), lambda: changes(self.model.rules, self.table, group, after, until)
        )

    def slices(self, group: int) -> tuple[FileSlice, ...]:
        return self._once(("slices", group), lambda: self.model.rules.file_slices(self.table, group))

    def bases(self, group: int) -> list[tuple[int, Fold]]:
        """Return the requested time and merge tree of each base file of a file group, even if its plan is pending."""
        folds = (
            (barrier, base_file(self.model.rules, self.table, group, barrier))
            for barrier in sorted({requested for requested, _ in self.model.rules.bases(self.table, group)})
        )
        return self._once(
            ("bases", group), lambda: [(barrier, fold) for barrier, fold in folds if fold is not None]
        )

    # The truth, by completed writes alone.

    @cached_property
    def done(self) -> dict[int, Write]:
        """The completed writes, keyed by requested time."""
        return {write.requested: write for write in self.completions}

    @cached_property
    def completions(self) -> tuple[Write, ...]:
        """The completed writes in completion order."""
        return oracle.completed(self.published, 0, inf)

    @cached_property
    def writes(self) -> dict[int, Write]:
        """The completed writes, and the pending writes that readers may see, keyed by requested time."""
        return {write.requested: write for write in self.table.writes}

    @cached_property
    def times(self) -> tuple[int, ...]:
        """The completion times of all published instants, in ascending order."""
        return tuple(sorted(entry.completed for entry in self.published if entry.completed is not None))

    @cached_property
    def known_times(self) -> frozenset[int]:
        """The requested and completion times of all instants and plans of the table."""
        entries = (*self.published, *self.table.writes)
        times = (time for entry in entries for time in (entry.requested, entry.completed) if time is not None)
        return frozenset((*times, *(plan.requested for plan in self.table.plans)))

    @cached_property
    def asked_times(self) -> tuple[float, ...]:
        """The times of the as-of reads to check: all requested and completion times, and one time between each adjacent
        pair.
        """
        ordered = sorted(self.known_times)
        between = (_between(one, other) for one, other in pairwise((0, *ordered)))
        return tuple(sorted({*ordered, *between}))

    @cached_property
    def other_times(self) -> dict[float, int]:
        """Maps each time in `asked_times` that is not a completion time to the preceding completion time (0 if there is
        none).

        If the protocol selects instants by requested time, `other_times` is empty, so that only reads as of completion
        times are checked.
        """
        by_completion = self.model.protocol[AsOf].as_of_axis == "completion"
        others = (time for time in self.asked_times if time not in self.times) if by_completion else ()
        return {time: max((each for each in self.times if each < time), default=0) for time in others}

    @cached_property
    def repeated_times(self) -> dict[float, int]:
        """Maps a time in `other_times` to the preceding completion time if reads as of both times return equal answers.

        Only the read as of the completion time is then checked.
        """
        others = ((time, nearest) for time, nearest in self.other_times.items() if nearest)
        return {
            time: nearest
            for time, nearest in others
            if all(self.as_of(group, time) == self.as_of(group, nearest) for group in self.groups)
        }

    @cached_property
    def other_windows(self) -> tuple[tuple[float, float], ...]:
        """The windows to check that start or end at a requested time. A window is omitted if its answer stays the same
        when that time is replaced by the preceding completion time.
        """
        if self.model.protocol[Windows].incremental_axis != "completion":
            return ()
        last = self.times[-1] if self.times else 0
        pairs = [
            pair
            for time, nearest in self.other_times.items()
            if time in self.known_times
            for pair in (((0, time), (0, nearest)), ((time, last), (nearest, last)))
        ]
        return tuple(one for one, other in pairs if one[0] < one[1] and not self._same_window(one, other))

    def _same_window(self, one: tuple[float, float], other: tuple[float, float]) -> bool:
        return all(self.window(group, *one) == self.window(group, *other) for group in self.groups)

    @cached_property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """Every window (after, until] between two completion times, or from time 0 to a completion time."""
        return tuple((after, until) for until in self.times for after in (0, *self.times) if after < until)

    def logs(self, group: int, after: float = 0, until: float = inf) -> tuple[Log, ...]:
        """Return the logs of the writes that completed in the window (after, until], in merge order."""
        return self._once(
            ("logs", group, after, until),
            lambda: oracle.logs_by_rank(
                [write for write in self.completions if after < (write.completed or 0) <= until], group
            ),
        )

    def every_log(self, group: int) -> tuple[Log, ...]:
        """Return the files of all completed writes in a file group, in merge order, including files hidden by a replace
        (insert overwrite).
        """

        def make() -> tuple[Log, ...]:
            by_rank = sorted(self.done.values(), key=lambda write: ranks_at(write, group) or 0)
            return tuple([file for write in by_rank for file in write.files_in(group)])

        return self._once(("every log", group), make)

    # Names by rank, under which valuations are shared.

    def names(self, group: int, *folds: Fold) -> dict[Log, Log]:
        """Return short names for the logs of a file group (see `names_for`). Completed logs are numbered first, in
        merge order, followed by the other logs in the merge trees `folds`.
        """
        known = self._once(("names", group), lambda: names_for(self.logs(group)))
        if all(log in known for fold in folds for log in logs_of(fold)):
            return known
        others = {log for fold in folds for log in logs_of(fold)} - known.keys()
        return names_for((*known, *sorted(others)))

    def renamed(self, fold: Fold, names: dict[Log, Log]) -> Fold:
        """Return a copy of a merge tree in which each log is replaced by its name in `names`."""
        return renamed(fold, names)

    @staticmethod
    def unnamed(rows: Valuation, names: dict[Log, Log]) -> dict[Log, Row]:
        back = {short: log for log, short in names.items()}
        return {back[short]: row for short, row in rows.items()}


def view_of(model: Model, state: State) -> View:
    return model.derive(
        state,
        model.table_reads,
        "view",
        lambda published, *_: View(model, model.table(state), published),
    )


def settled_times(model: Model, state: State) -> tuple[float, ...]:
    """Return the settled times to check: completion times, times between them, and the default time of queries."""
    view, settled = view_of(model, state), model.settled(state)
    others = (time for time in view.other_times if time <= settled)
    return tuple(sorted({*view.times, *others, settled} - {0}))


def answered_times(model: Model, state: State) -> tuple[float, ...]:
    table, restores = model.table(state), model.restores(state)
    times = (t for t in settled_times(model, state) if not hides(restores, t))
    return tuple(t for t in times if not model.rules.is_refused(table, t))


def distinct_times(view: View, times: tuple[float, ...]) -> list[float]:
    """Return `times`, completion times first. Omit a time if its read equals that of a completion time in `times`."""
    return completions_first(view, (time for time in times if view.repeated_times.get(time, 0) not in times))


def completions_first(view: View, times: Iterable[float]) -> list[float]:
    """Sort times so that completion times come first. Messages then refer to a completion time where possible."""
    return sorted(times, key=view.other_times.__contains__)


def _between(one: int, other: int) -> float:
    return (one + other) / 2 if (one + other) % 2 else (one + other) // 2


def answers(model: Model, state: State) -> Iterator[tuple[str, int, Table]]:
    """Yield a triple for each reader that has answered: the reader's name, the time of the read, and the table that it
    read.
    """
    for name in model.actors_of(READER):
        reader = model.component(state, name)
        if reader.step == "answered":
            yield name, reader.time, model.view(state, KEPT_TABLE, name)


def truths(model: Model, state: State, name: str) -> list[View]:
    """Return the possible correct views of the table for a reader; its answer must agree with one of them. The answer
    may include or ignore a restore that was planned during the reader's listing.
    """
    view, restores = view_of(model, state), model.restores(state)
    if not restores:
        return [view]
    seen = record_of(model.component(state, name), SeenRestores)
    return [_as_before(view, restores[since:]) for since in range(seen.before, seen.restores + 1)]


def everything(model: Model, state: State) -> View:
    """Return the view of a state in which instants undone by restores are still completed."""
    return _as_before(view_of(model, state), model.restores(state))


def _as_before(view: View, restores: tuple[Restore, ...]) -> View:
    return View(view.model, view.table, ever_published(view.published, restores)) if restores else view


def on_table(model: Model) -> tuple[str, ...]:
    """Return the components (state variables) on which a read of the table depends; the clock is included if reads take
    their time from it.
    """
    clock = ("clock",) if model.protocol[ReaderListing].read_time == "clock" else ()
    return (*model.table_reads, *components_in(model, "restores"), *clock)


def on_table_and_readers(model: Model) -> tuple[str, ...]:
    """Return the components (state variables) on which reads of the table depend, and those of the readers."""
    readers = model.actors_of(READER)
    return (*on_table(model), *(components_in(model, "early") if readers else ()), *readers)

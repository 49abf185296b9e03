"""The values that promises compare in one state: the reads of the table, and the completed writes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from math import inf
from typing import TypeVar, cast

from ..kernel.merge import Fold, logs_of
from ..kernel.reader import KEPT_TABLE
from ..kernel.reads import as_of, base_file, incremental
from ..kernel.table import Compaction, Log, Table, Write
from ..machine.state import State
from ..machine.transition import record_of
from ..mechanisms.insert_overwrite import ranks_at
from ..mechanisms.restores.listing import Seen, ever_published
from ..mechanisms.restores.rules import Restore, hides
from ..model import Model
from ..slices import FileSlice, file_slices
from ..variants.listing import Listing
from . import oracle
from .oracle import Row
from .promise import components_in
from .valuations import Valuation, names_for, renamed

Result = TypeVar("Result")
Published = tuple[Write | Compaction, ...]


class View:
    """Cached reads of one table. States with the same table share a view (`view_of`)."""

    def __init__(self, model: Model, table: Table, published: Published) -> None:
        self.model, self.table, self.published = model, table, published
        self.merger = model.merger
        self.groups = range(model.world.groups)
        self._results: dict[Hashable, object] = {}

    def _once(self, key: Hashable, make: Callable[[], Result]) -> Result:
        if key not in self._results:
            self._results[key] = make()
        return cast(Result, self._results[key])  # The key includes the name of the calling method.

    # Reads, by slices and plans.

    def as_of(self, group: int, time: float = inf) -> Fold:
        """The read as of a time (default: the snapshot)."""
        return self._once(("as of", group, time), lambda: as_of(self.model.rules, self.table, group, time))

    def window(self, group: int, after: int, until: int) -> Fold:
        """The incremental read."""
        return self._once(
            ("window", group, after, until),
            lambda: incremental(self.model.rules, self.table, group, after, until),
        )

    def slices(self, group: int) -> tuple[FileSlice, ...]:
        """The file slices."""
        return self._once(("slices", group), lambda: file_slices(self.model.rules, self.table, group))

    def bases(self, group: int) -> list[tuple[int, Fold]]:
        """The barrier and content of each base file of the group, pending ones included."""
        shapes = (
            (barrier, base_file(self.model.rules, self.table, group, barrier))
            for barrier in sorted({requested for requested, _ in self.model.rules.bases(self.table, group)})
        )
        return self._once(
            ("bases", group), lambda: [(barrier, shape) for barrier, shape in shapes if shape is not None]
        )

    # The truth, by completed writes alone.

    @cached_property
    def done(self) -> dict[int, Write]:
        """The completed writes by requested time."""
        return {write.requested: write for write in self.completions}

    @cached_property
    def completions(self) -> tuple[Write, ...]:
        """The completed writes in the order of their completion."""
        return oracle.completed(self.published, 0, inf)

    @cached_property
    def writes(self) -> dict[int, Write]:
        """The completed writes, and the pending writes that the protocol shows, by requested time."""
        return {write.requested: write for write in self.table.writes}

    @cached_property
    def times(self) -> tuple[int, ...]:
        """The times at which reads are compared: every published completion time. Between two completion times reads do
        not change.
        """
        return tuple(sorted(entry.completed for entry in self.published if entry.completed is not None))

    @cached_property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """Every window (after, until] between two of these times, or from the start."""
        return tuple((after, until) for until in self.times for after in (0, *self.times) if after < until)

    def logs(self, group: int, after: float = 0, until: float = inf) -> tuple[Log, ...]:
        """The logs of the writes that completed in a window, by rank."""
        return self._once(
            ("logs", group, after, until),
            lambda: oracle.logs_by_rank(
                [write for write in self.completions if after < (write.completed or 0) <= until], group
            ),
        )

    def every_log(self, group: int) -> tuple[Log, ...]:
        """The files of all completed writes in a group by rank, including files that a replace hides."""

        def make() -> tuple[Log, ...]:
            by_rank = sorted(self.done.values(), key=lambda write: ranks_at(write, group) or 0)
            return tuple([file for write in by_rank for file in write.files_in(group)])

        return self._once(("every log", group), make)

    # Names by rank, under which valuations are shared.

    def names(self, group: int, *shapes: Fold) -> dict[Log, Log]:
        """Short names: by rank for each completed log of a group, then for other logs in the shapes."""
        known = self._once(("names", group), lambda: names_for(self.logs(group)))
        if all(log in known for shape in shapes for log in logs_of(shape)):
            return known
        others = {log for shape in shapes for log in logs_of(shape)} - known.keys()
        return names_for((*known, *sorted(others)))

    def renamed(self, shape: Fold, names: dict[Log, Log]) -> Fold:
        """A fold with its logs renamed."""
        return renamed(shape, names)

    @staticmethod
    def unnamed(rows: Valuation, names: dict[Log, Log]) -> dict[Log, Row]:
        """A valuation with the original names of logs."""
        back = {short: log for log, short in names.items()}
        return {back[short]: row for short, row in rows.items()}


def view_of(model: Model, state: State) -> View:
    """The view of a state."""
    return model.derive(
        state,
        model.table_reads,
        "view",
        lambda published, *_: View(model, model.table(state), published),
    )


def settled_times(model: Model, state: State) -> tuple[int, ...]:
    """The settled times of a state: every published completion time, and the time of a read that states no time."""
    return tuple(sorted({*view_of(model, state).times, model.settled(state)} - {0}))


def answered_times(model: Model, state: State) -> tuple[int, ...]:
    """The settled times as of which a read is answered."""
    table, restores = model.table(state), model.restores(state)
    times = (t for t in settled_times(model, state) if not hides(restores, t))
    return tuple(t for t in times if not model.rules.is_refused(table, t))


def answers(model: Model, state: State) -> Iterator[tuple[str, int, Table]]:
    """Each reader actor that has answered: its name, its T, and the table of its instants."""
    for name in model.actors_of("reader"):
        reader = model.component(state, name)
        if reader.step == "answered":
            yield name, reader.time, model.view(state, KEPT_TABLE, name)


def truths(model: Model, state: State, name: str) -> list[View]:
    """The views by which a reader actor may answer. A restore that was planned during its listing may count or not."""
    view, restores = view_of(model, state), model.restores(state)
    if not restores:
        return [view]
    seen = record_of(model.component(state, name), Seen)
    return [_as_before(view, restores[since:]) for since in range(seen.before, seen.restores + 1)]


def everything(model: Model, state: State) -> View:
    """The view as if no restore had happened."""
    return _as_before(view_of(model, state), model.restores(state))


def _as_before(view: View, restores: tuple[Restore, ...]) -> View:
    """The view as if these restores had not happened."""
    return View(view.model, view.table, ever_published(view.published, restores)) if restores else view


def on_table(model: Model) -> tuple[str, ...]:
    """The components that a read of the table depends on, including a clock that decides the time of reads."""
    clock = ("clock",) if model.protocol[Listing].read_time == "clock" else ()
    return (*model.table_reads, *components_in(model, "restores"), *clock)


def on_table_and_readers(model: Model) -> tuple[str, ...]:
    """The components of `on_table`, and the components of reader actors."""
    return (*on_table(model), *model.actors_of("reader"))

"""Other readers of the system's table, asked once a history has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import pairwise

from nbcc.model import Protocol, Query
from nbcc.model.mechanisms.added_columns.options import Alterations
from nbcc.model.mechanisms.partial_updates.mechanism import PartialColumns

from .foreign import foreign_rows, is_inverted, rule_of_difference
from .history import History
from .report import Tally

Reader = Callable[[History, Tally], None]
"""Compares what it reads with what the model predicts; raises `Disagreement`, counts differences from the promise."""

AS_HUDI_RS = Protocol(merge_order="requested", as_of_axis="requested", fold="logs_first", window_merge="slice_of_table",
                      window_deletes="omitted", log_compaction_window="included")  # fmt: skip
"""How hudi-rs 0.5.0 reads (specs/protocols/hudi-rs-0.5.0.toml; a test holds the two together)."""


def standard_readers() -> list[Reader]:
    """hudi-rs, where it is installed."""
    return [hudi_rs if find_spec("hudi") else _not_installed]


def hudi_rs(history: History, tally: Tally) -> None:
    """The snapshot, as-of points and windows by hudi-rs: as the model's setting of that name predicts, always; and as
    promised, for the snapshot of a history without inversion.
    """
    from ..systems.hudi_rs import HudiRs

    folder = getattr(history.system, "folder", None)
    ticks = getattr(history.system, "ticks", None)  # of a table whose instants are times of day
    if folder is None or (history.model.protocol != Protocol() and ticks is None):
        tally.skipped["hudi-rs: the table has no files of the default protocol"] += 1
        return
    model, state, data = history.model, history.state, history.data
    if model.world[PartialColumns].columns:
        tally.skipped["hudi-rs: partial updates (finding partial-updates-in-hudi-files)"] += 1
        return
    if model.world[Alterations].alterations:
        tally.skipped["hudi-rs: columns that were added (tests/engine/test_schema_evolution.py)"] += 1
        return
    if model.world.custom:
        tally.skipped["hudi-rs: it refuses to merge by a user's function"] += 1
        return
    with folder() as place:
        reader = HudiRs(place, ticks)
        for query in _queries(history):
            if _shows_what_was_rolled_back(history, query):
                tally.skipped["hudi-rs: a late file, as of before the first commit (a finding)"] += 1
                continue
            expected = foreign_rows(model, state, query, data, AS_HUDI_RS)
            answer = reader.rows(query)
            history.compare(f"{history.described(query)} by hudi-rs", expected, answer, history.symbols.row)
            promised = foreign_rows(model, state, query, data, model.protocol)
            if answer == promised:
                continue
            if query.kind == "snapshot" and not is_inverted(model.table(state)):
                history.compare("snapshot by hudi-rs, without an inversion", promised, answer, history.symbols.row)
            tally.differences[f"hudi-rs, {rule_of_difference(model, state, query, data, AS_HUDI_RS)}"] += 1


def _queries(history: History, most: int = 4) -> Iterator[Query]:
    """The snapshot, as of at most ``most`` of the requested and completion times, spread over the history, and at most
    as many windows.
    """
    done = {t for _, _, requested, completed in history.timeline if completed for t in (requested, completed)}
    horizon = history.model.horizon(history.state)  # hudi-rs knows of none, and says nothing where files are gone
    times = sorted(t for t in done if t >= horizon)
    if times:
        yield Query("snapshot")
    for time in times[len(times) % 2 :: max(1, -(-len(times) // most))]:
        yield Query("as_of", until=time)
    ends = sorted(completed for _, _, _, completed in history.timeline if completed)
    if horizon or _has_archived(history):  # nor does it look into the archive for the writes of a window
        return
    for after, until in [*pairwise([0, *ends]), (0, ends[-1])][-most:] if ends else ():
        yield Query("incremental", after=after, until=until)


def _shows_what_was_rolled_back(history: History, query: Query) -> bool:
    """Before the first commit, and files of a rolled-back write lie there: finding
    rolled-back-write-shown-before-the-first-commit."""
    model, state = history.model, history.state
    if query.kind != "as_of" or "rollbacks" not in model.components:
        return False
    until = query.until or 0
    begun = {action for action, _, requested, completed in history.timeline if completed and requested <= until}
    undone = {rollback.target for rollback in model.component(state, "rollbacks")}
    late = any(write.requested in undone for write in model.pending_writes(state))
    return late and not begun & {"commit", "deltacommit"}


def _has_archived(history: History) -> bool:
    """Whether instants have left the active timeline."""
    model = history.model
    return "removed" in model.components and bool(model.component(history.state, "removed"))


def _not_installed(history: History, tally: Tally) -> None:
    tally.skipped["hudi-rs: not installed"] += 1

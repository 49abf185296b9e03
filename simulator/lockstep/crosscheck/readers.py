"""Foreign readers (hudi-rs), which read the system's table at the end of a history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from nbcc.model import Protocol, Query
from nbcc.model.mechanisms.copy_on_write import is_copy_on_write
from nbcc.model.mechanisms.partial_updates import PartialColumns
from nbcc.model.mechanisms.schema_evolution.rules import Alterations

from ..control.calls import parsed
from ..control.clock import instant_of
from ..systems.resized import is_resized
from .foreign import foreign_rows, is_inverted, rule_of_difference
from .history import PlayedHistory
from .report import Tally

if TYPE_CHECKING:
    from ..systems.hudi_rs import HudiRs

Reader = Callable[[PlayedHistory, Tally], None]
"""A reader compares its answers with the model's predictions. It raises `Disagreement` and counts broken promises."""

AS_HUDI_RS = Protocol(merge_order="requested", as_of_axis="requested", fold="logs_first", window_merge="slice_of_table",
                      window_deletes="omitted", log_compaction_window="included")  # fmt: skip
"""The protocol of hudi-rs 0.5.0 as a reader, equal to specs/protocols/hudi-rs-0.5.0.toml (tested)."""

COMMITS = frozenset({"commit", "deltacommit", "replacecommit"})
"""The actions that hudi-rs 0.5.0 reads from the timeline, and whose pending instants make Hudi refuse as-of reads."""

REFUSES_RIVALS = "is already present in File Group"
"""The error of hudi-rs 0.5.0 for a file group with two base files of one instant (see specs/boundary.md)."""


def standard_readers() -> list[Reader]:
    """Return the only foreign reader, hudi-rs. If hudi-rs is not installed, the comparison with it is counted as
    skipped.
    """
    return [hudi_rs if find_spec("hudi") else _not_installed]


def hudi_rs(history: PlayedHistory, tally: Tally) -> None:
    """Compare hudi-rs's snapshot, as-of and incremental reads with the answers that the model predicts for hudi-rs.

    If instants complete in the order of their requested times, hudi-rs's snapshot must equal the model's snapshot, with
    the rows that a pending write hides from Apache Hudi.
    """
    from ..systems.hudi_rs import HudiRs

    folder = getattr(history.system, "folder", None)
    ticks = getattr(history.system, "ticks", None)  # exists if the table's instants are times of day
    model, state, data = history.model, history.state, history.data
    without_files = folder is None or (model.protocol != Protocol() and ticks is None)
    reason = "the table has no files of the default protocol" if without_files else not_predicted(history)
    if reason or folder is None:
        tally.skipped[f"hudi-rs: {reason}"] += 1
        return
    with folder() as place:
        reader = HudiRs(place, ticks)
        # Looked for in the files: the model does not say which names a second runner of a plan has put.
        refuses = _has_rival_base_file(history, place)
        if refuses:
            history.compare("snapshot by hudi-rs, of two base files", REFUSES_RIVALS, _failure(reader))
            tally.skipped["hudi-rs: two base files of one completed instant (the boundary)"] += 1
        replacing = _replaces_taken_for_archived(history, place)
        late = _keys_taken_for_archived(history, place, reader) | _keys_of(history, replacing)
        for query in () if refuses else _queries(history):
            expected = foreign_rows(model, state, query, data, AS_HUDI_RS)
            answer = reader.rows(query)
            if replacing and query.kind == "incremental":  # the base file changes which logs it merges, for all keys
                tally.skipped["hudi-rs: a window with the base file of a pending replace (the boundary)"] += 1
                continue
            if late and query.kind != "incremental":
                tally.skipped["hudi-rs: keys of a file older than the first commit (a finding, the boundary)"] += 1
                expected, answer = (tuple(r for r in rows if r[0] not in late) for rows in (expected, answer))
                history.compare(f"{history.described(query)} by hudi-rs", expected, answer, history.symbols.row)
                continue
            history.compare(f"{history.described(query)} by hudi-rs", expected, answer, history.symbols.row)
            promised = foreign_rows(model, state, query, data, model.protocol)
            if answer == promised:
                continue
            if query.kind == "snapshot" and not is_inverted(model.table(state)):
                # In Apache Hudi a pending write begins a file slice, and so hides logs. hudi-rs omits its files.
                protocol = model.protocol.replace(first_slice="first_completed")
                promised = foreign_rows(model, state, query, data, protocol)
                history.compare("snapshot by hudi-rs, without an inversion", promised, answer, history.symbols.row)
            tally.differences[f"hudi-rs, {rule_of_difference(model, state, query, data, AS_HUDI_RS)}"] += 1


def not_predicted(history: PlayedHistory) -> str:
    """Return the reason why the model cannot predict hudi-rs's answers for this history, or '' if it can."""
    model = history.model
    reasons = {
        "partial updates (finding partial-updates-in-hudi-files)": model.world[PartialColumns].columns,
        "added columns (tests/engine/test_schema_evolution.py)": model.world[Alterations].alterations,
        "copy-on-write tables": is_copy_on_write(model.world),
        "a restore, whose plan it does not read": model.restores(history.state),
        "it refuses tables with a user's merge function": model.world.custom,
        "a resize, whose groups it opens as of its request (tests/interop/test_resizes.py)": is_resized(model.world),
    }
    return next((reason for reason, found in reasons.items() if found), "")


def _has_rival_base_file(history: PlayedHistory, place: Path) -> bool:
    done = {instant_of(requested) for action, _, requested, completed in history.timeline
            if completed and action == "commit"}  # fmt: skip
    names = (parsed(path.relative_to(place).as_posix()) for path in place.rglob("*.parquet"))
    files = Counter((name.get("partition"), name["file"], name["instant"]) for name in names if "instant" in name)
    return any(count > 1 and instant in done for (_, _, instant), count in files.items())


def _failure(reader: HudiRs) -> str:
    try:
        reader.rows(Query("snapshot"))
    except Exception as error:  # its package does not export the class
        return REFUSES_RIVALS if REFUSES_RIVALS in str(error) else str(error)
    return ""


def _queries(history: PlayedHistory, most: int = 4) -> Iterator[Query]:
    done = {t for _, _, requested, completed in history.timeline if completed for t in (requested, completed)}
    horizon = history.model.horizon(history.state)  # hudi-rs has no horizon and silently skips deleted files
    times = sorted(t for t in done if t >= horizon)
    if times:
        yield Query("snapshot")
    if has_archived(history):  # it does not read the archive, in which older times and windows have their instants
        return
    for time in times[len(times) % 2 :: max(1, -(-len(times) // most))]:
        yield Query("as_of", until=time)
    ends = sorted(completed for _, _, _, completed in history.timeline if completed)
    if horizon:
        return
    for after, until in [*pairwise([0, *ends]), (0, ends[-1])][-most:] if ends else ():
        yield Query("incremental", after=after, until=until)


def _keys_taken_for_archived(history: PlayedHistory, place: Path, reader: HudiRs) -> set[str]:
    """Return the keys of rolled-back writes whose files hudi-rs reads.

    hudi-rs takes an instant before the first commit of the timeline for an archived one, so for committed. The finding
    late-file-before-the-timeline-in-hudi-rs describes this error.
    """
    return _keys_of(history, _undone_taken_for_archived(history, place, reader.instant))


def _undone_taken_for_archived(history: PlayedHistory, place: Path, instant: Callable[[int], str]) -> list[int]:
    model = history.model
    if "rollbacks" not in model.components:
        return []
    files = {parsed(path.relative_to(place).as_posix()).get("instant") for path in place.rglob("*") if path.is_file()}
    first = min((requested for action, _, requested, _ in history.timeline if action in COMMITS), default=0)
    undone = {rollback.target for rollback in model.component(history.state, "rollbacks")}
    return [time for time in undone if time < first and instant(time) in files]


def difference_of_hudi_rs(history: PlayedHistory, place: Path, query: Query) -> str:
    """Return why hudi-rs may answer a read of the table in the folder `place` otherwise than its rules say; "" if
    nothing is known.
    """
    if query.kind == "incremental" and has_archived(history):
        return "it does not read the archive"
    late = _replaces_taken_for_archived(history, place) or _undone_taken_for_archived(history, place, instant_of)
    return "finding late-file-before-the-timeline-in-hudi-rs" if late else ""


def _replaces_taken_for_archived(history: PlayedHistory, place: Path) -> list[int]:
    """Return the requested times of pending replaces with base files that are older than the first completed instant.
    hudi-rs takes such a file for committed, too, and does not read the plans that say that it is pending.
    """
    files = {parsed(path.relative_to(place).as_posix()).get("instant") for path in place.rglob("*.parquet")}
    first = min((requested for _, _, requested, completed in history.timeline if completed), default=0)
    plans = (time for action, _, time, completed in history.timeline if action == "compaction" and not completed)
    return [time for time in plans if time < first and instant_of(time) in files]


def _keys_of(history: PlayedHistory, times: Iterable[int]) -> set[str]:
    return {key for time in times for file in history.data.get(time, {}).values() for key in file}


def has_archived(history: PlayedHistory) -> bool:
    model = history.model
    return "removed" in model.components and bool(model.component(history.state, "removed"))


def _not_installed(history: PlayedHistory, tally: Tally) -> None:
    tally.skipped["hudi-rs: not installed"] += 1

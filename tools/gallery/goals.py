"""Goals of runs: functions of a model and a state. The gallery shows a shortest run to a state in which a goal is true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nbcc.model import Instant, Model
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.reader import READER
from nbcc.model.kernel.table import Write
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.marks import mark
from nbcc.model.mechanisms.archiving.mechanism import ARCHIVER
from nbcc.model.mechanisms.conditions import DELETE, UPDATE, RowsRead, verb_of
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.mechanisms.log_compaction.rules import LogCompaction
from nbcc.model.mechanisms.lost_answers import LostAnswerLimits
from nbcc.model.mechanisms.metadata_table import HasMetadataTable
from nbcc.model.mechanisms.queries import ANSWERED, QUERIER
from nbcc.model.mechanisms.restores.mechanism import RESTORER
from nbcc.model.promises.erased import row_survives_delete
from nbcc.model.promises.isolation import lost_update
from nbcc.simulator.components import is_dead

Goal = Callable[[Model, Any], bool]


def a_write_completed(model: Model, state: Any) -> bool:
    return bool(_writes(model, state))


def two_writes_completed_out_of_order(model: Model, state: Any) -> bool:
    """One write was requested after another write and completed before that write."""
    done = _writes(model, state)
    return any(one[0] < other[0] and other[1] < one[1] for one in done for other in done)


def a_write_completed_during_a_compaction(model: Model, state: Any) -> bool:
    """A write was requested before a compaction, and completed after the plan and before the compaction."""
    compactions = _done(model, state, "commit")
    return any(start < plan < end < done for start, end in _writes(model, state) for plan, done in compactions)


def a_compaction_outlived_its_compactor(model: Model, state: Any) -> bool:
    """A compactor crashed after it wrote a base file, and another compactor, which resumed the plan later, completed
    it.
    """
    owns = [model.component(state, name) for name in model.actors_of(COMPACTOR)]
    died = {own.plan for own in owns if is_dead(own) and own.written}
    last = {plan.requested: plan.runner for plan in model.component(state, "plans")} if owns else {}
    done = ((entry.requested, entry.actor) for entry in model.component(state, "published"))
    return any(plan in died and last[plan] == runner for plan, runner in done)


def a_write_succeeded_at_its_second_try(model: Model, state: Any) -> bool:
    """Two writes are complete, and the clock was read more often than two writes need, because one of them was retried.
    """
    done = _writes(model, state)
    return len(done) == 2 and int(model.component(state, "clock")) > 2 * len(done)


def a_row_survived_a_delete(model: Model, state: Any) -> bool:
    """A delete by a condition found a row to delete, and a row that was written before the delete is still shown."""
    return _changes(model, state) == [DELETE] and bool(row_survives_delete(model, None, None, state))


def an_update_was_lost(model: Model, state: Any) -> bool:
    """Two updates by a condition found the same row, and neither saw the other's."""
    return _changes(model, state) == [UPDATE, UPDATE] and bool(lost_update(model, None, None, state))


def _changes(model: Model, state: Any) -> list[str]:
    """Return the verbs of the completed writes that were computed from rows that their writers had read."""
    writes = (entry for entry in model.component(state, "published") if isinstance(entry, Write))
    return [verb_of(model.world, write.actor) for write in writes if mark(write, RowsRead).seen]


def a_reader_was_refused(model: Model, state: Any) -> bool:
    """A reader was refused because a clean had deleted the files that it needs."""
    return any(model.component(state, name).step == "refused" for name in model.actors_of(READER))


def a_dead_writers_write_was_rolled_back(model: Model, state: Any) -> bool:
    """A writer crashed after it wrote a log file; its write is rolled back, and another write is complete."""
    owns = [model.component(state, name) for name in model.actors_of(WRITER)]
    died = any(is_dead(own) and own.files for own in owns)
    return died and bool(_done(model, state, "rollback")) and bool(_writes(model, state))


def a_sleeping_writer_was_refused(model: Model, state: Any) -> bool:
    """A write was rolled back while its writer was stalled; the writer continued and was refused."""
    return bool(_done(model, state, "rollback")) and _all_writers_rest(model, state)


def a_writer_woke_behind_the_archive(model: Model, state: Any) -> bool:
    """The rollback of a write was archived; then the writer put its instant again and was refused."""
    [own] = [model.component(state, name) for name in model.actors_of(WRITER)]
    archive = model.component(state, "archive") if model.actors_of(ARCHIVER) else ()
    there = any(i.completed is None and i.requested < max(archive, default=0) for i in model.timeline(state))
    return there and own.step == "refused"


def a_write_outlived_a_replace(model: Model, state: Any) -> bool:
    """A replace is complete. The replace hides a write that completed before its request, but not a later write."""
    replaces = _done(model, state, "commit") if model.actors_of(OVERWRITER) else []
    ends = [end for _, end in _writes(model, state)]
    return any(min(ends) < plan < max(ends) < done for plan, done in replaces if ends)


def an_answer_was_lost_and_found(model: Model, state: Any) -> bool:
    """The answer of a put was lost, and the writer nevertheless completed the write."""
    lost = model.world[LostAnswerLimits].lost_answers and model.component(state, "lost_answers")
    return bool(lost) and not {*model.actors_of(WRITER)} & {*model.busy(state)}


def a_writer_died_between_the_two_commits(model: Model, state: Any) -> bool:
    """A writer crashed between its commit to the metadata table and its commit to the table; another write completed
    later.
    """
    listed = model.component(state, "metadata").listed if model.world[HasMetadataTable].metadata_table else ()
    owns = [model.component(state, name) for name in model.actors_of(WRITER)]
    left = [own.completed for own in owns if is_dead(own) and own.requested in listed]
    return any(end > dead for _, end in _writes(model, state) for dead in left)


def a_write_completed_while_logs_became_one(model: Model, state: Any) -> bool:
    """A write completed between the plan of a log compaction and its completion."""
    published = model.component(state, "published")
    done = [entry.completed or 0 for entry in published if isinstance(entry, Write)]
    return any(
        entry.requested < time < entry.completed
        for entry in published
        if isinstance(entry, LogCompaction)
        for time in done
    )


def a_restore_refused_a_writer(model: Model, state: Any) -> bool:
    """A restore undid a pending write; the writer of that write detected it and removed its files."""
    done = _done(model, state, "restore") if model.actors_of(RESTORER) else []
    asked = [each.undone for each in model.restores(state) if each.undone[0] + 1 == each.requested]  # none completed
    return bool(done and asked) and _all_writers_rest(model, state)


def _all_writers_rest(model: Model, state: Any) -> bool:
    owns = {name: model.component(state, name) for name in model.actors_of(WRITER)}
    return all(own.number and not model.is_busy(name, own) for name, own in owns.items())


def a_replace_gave_way(model: Model, state: Any) -> bool:
    """An optimistic replace conflicted with a complete write, and removed its files and its plan."""
    owns = [model.component(state, name) for name in model.actors_of(OVERWRITER)]
    return bool(_writes(model, state)) and any(own.step == "gave up" for own in owns)


def a_query_settled_its_time_while_a_write_was_pending(model: Model, state: Any) -> bool:
    """A querier answered a query as of a time that it had settled itself. A write was requested before that time and
    completed after it.
    """
    owns = [model.component(state, name) for name in model.actors_of(QUERIER)]
    asked = [own.until for own in owns if own.step == ANSWERED and own.kind == "as_of" and not own.refusal]
    writes = _writes(model, state)
    # a time after the first completion is not settled by it
    return any(start < time < end and time > min(writes)[1] for time in asked for start, end in writes)


def a_dead_writers_announcement_was_committed(model: Model, state: Any) -> bool:
    """A writer crashed, all writes are complete, and the other writers have ended. In the shortest run, the writer that
    crashed has announced its write, and another writer commits it.
    """
    owns = {name: model.component(state, name) for name in model.actors_of(WRITER)}
    died = any(is_dead(own) for own in owns.values())
    ended = all(is_dead(own) or not model.is_busy(name, own) for name, own in owns.items())
    return died and ended and len(_writes(model, state)) == len(owns)


GOALS: dict[str, Goal] = {
    goal.__name__.replace("_", " "): goal
    for goal in (
        a_write_completed,
        two_writes_completed_out_of_order,
        a_write_completed_during_a_compaction,
        a_compaction_outlived_its_compactor,
        a_write_succeeded_at_its_second_try,
        a_dead_writers_write_was_rolled_back,
        a_sleeping_writer_was_refused,
        a_reader_was_refused,
        a_restore_refused_a_writer,
        a_writer_woke_behind_the_archive,
        a_write_outlived_a_replace,
        a_replace_gave_way,
        an_answer_was_lost_and_found,
        a_writer_died_between_the_two_commits,
        a_write_completed_while_logs_became_one,
        a_query_settled_its_time_while_a_write_was_pending,
        a_dead_writers_announcement_was_committed,
        a_row_survived_a_delete,
        an_update_was_lost,
    )
}


def _writes(model: Model, state: Any) -> list[tuple[int, int]]:
    return _done(model, state, "deltacommit")


def _done(model: Model, state: Any, action: str) -> list[tuple[int, int]]:
    timeline: tuple[Instant, ...] = model.timeline(state)
    return [(i.requested, i.completed) for i in timeline if i.action == action and i.completed is not None]

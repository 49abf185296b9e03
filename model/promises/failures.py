"""Promises about failed writers (REC), acknowledged writes (ACK) and repeated batches (ONCE)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from ..kernel.reader import READER
from ..kernel.table import Write
from ..kernel.writer import WRITER
from ..machine.state import State
from ..machine.transition import Step, record_of
from ..mechanisms import streams
from ..mechanisms.archiving.mechanism import ARCHIVER
from ..mechanisms.archiving.reader import ReadBegun
from ..mechanisms.decision_log import DecisionLog
from ..mechanisms.exactly_once import Resends, batch_of, rows_of
from ..mechanisms.lost_answers import LostAnswerLimits
from ..mechanisms.restores.mechanism import RESTORER
from ..mechanisms.restores.rules import Restore
from ..mechanisms.rollback.heartbeat import Heartbeat
from ..mechanisms.rollback.rollbacker import ROLLBACKER
from ..mechanisms.rollback.rules import Failures, Rollback
from ..mechanisms.streams import STREAM
from ..model import Model
from .flink import (
    checkpoint_completed,
    committed_twice,
    flink_jobs,
    lost_checkpoint,
    on_jobs,
    undoes_jobs,
    undone_alive,
)
from .promise import Promise, components_in, value_in
from .sentences import write_named


def no_rollback(model: Model) -> str | None:
    """Return the reason why promise REC is not checked for a model; None if it is checked."""
    there = model.actors_of(ROLLBACKER) and model.world[Failures].rollbacks
    there = there or model.actors_of(RESTORER) or undoes_jobs(model)
    return None if there else "nothing is rolled back in this world"


def recovery_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise REC: a write is committed or rolled back, never both. A write is rolled back only after the
    writer's heartbeat has expired. A restore undoes exactly the writes that its savepoint does not contain.
    """
    if broken := restored_wrongly(model, after):
        return broken
    rollbacks: tuple[Rollback, ...] = value_in(model, after, "rollbacks")
    planned = {rollback.target for rollback in rollbacks}
    for entry in model.component(after, "published"):
        if isinstance(entry, Write) and entry.requested in planned:
            return f"{write_named(entry, entry.requested)} is completed, and a rollback of it is on the timeline"
    for me in model.actors_of(WRITER) if planned else ():
        writer = model.component(after, me)
        if writer.requested in planned and not record_of(writer, Heartbeat).expired:
            return f"{me}'s write requested at t{writer.requested} is rolled back, and its heartbeat has not expired"
    return undone_alive(model, after)


def restored_wrongly(model: Model, state: State) -> str | None:
    """Return a sentence if the last restore kept or undid the wrong writes; None otherwise. A restore must undo every
    write that had not completed when the savepoint was taken, and keep all others.
    """
    writes = [entry for entry in model.component(state, "published") if isinstance(entry, Write)]
    # Only the last one: a later restore may rightly undo what an earlier one has kept.
    for each in model.restores(state)[-1:]:
        what = f"the restore of t{each.requested} went back to t{each.at}"
        if lost := set(each.saved_writes) - {write.requested for write in writes}:
            return f"{what} and has undone the write requested at t{min(lost)}, which had completed by then"
        for write in writes:
            if write.requested not in each.saved_writes and _concerns(each, write, model):
                return f"{what}, and {write_named(write, write.requested)} is there, which had not completed by then"
    return None


def _concerns(restore: Restore, write: Write, model: Model) -> bool:
    """True if a write was completed or pending when the restore was decided.

    Without a lock, a write may request an earlier time after the decision. It completes later than the restore.
    """
    if model.protocol[DecisionLog].decision == "free":
        return write.requested in restore.undone or bool(write.completed and write.completed < restore.requested)
    return write.requested < restore.requested


def _is_undone(model: Model, state: State) -> bool:
    undone = value_in(model, state, "rollbacks") or value_in(model, state, "undone")
    return bool(undone or model.restores(state))


def _on_rollbacks(model: Model) -> tuple[str, ...]:
    rollbacks = components_in(model, "rollbacks")
    writers = model.actors_of(WRITER) if rollbacks else ()
    return ("published", *rollbacks, *components_in(model, "restores"), *writers, *on_jobs(model))


REC = Promise(
    name="REC",
    about="Commit and rollback of a write exclude each other; a writer with a live heartbeat is not rolled back; "
    "a restore undoes exactly what its savepoint does not contain.",
    source="RFC-22, inline rollback; docs/contract.md, REC",
    kind="state",
    holds=recovery_holds,
    sometimes=_is_undone,
    reads=_on_rollbacks,
    unfit=no_rollback,
)


REPORTS = ("reported_done", "reported_failed", "lost_answers")


def nothing_lost(model: Model) -> str | None:
    """Return the reason why promise ACK is not checked for a model; None if it is checked.

    ACK can be violated only if responses of the store can be lost, if readers read a table whose instants are
    archived, or if a Flink job reports a checkpoint as complete before it commits.
    """
    if model.world[LostAnswerLimits].lost_answers or _reads_archived_tables(model) or flink_jobs(model):
        return None
    return "every answer of the store arrives in this world"


def _reads_archived_tables(model: Model) -> bool:
    return bool(model.actors_of(READER) and model.actors_of(ARCHIVER))


def acknowledged_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise ACK: readers see every write reported as committed, and no write reported as failed. If a read
    begins after a write was acknowledged, the read's time is the write's completion time or later.
    """
    failed, done = (set(value_in(model, after, name)) for name in ("reported_failed", "reported_done"))
    for entry in model.component(after, "published"):
        if entry.requested in failed:
            return f"{write_named(entry, entry.requested)} is visible to readers, and its caller received a failure"
        # What is left at the end was reported as done and is not published.
        done.discard(entry.requested)
    if done:
        return f"a write was reported as done (requested t{min(done)}), and no reader ever sees it"
    if lost := lost_checkpoint(model, after):
        return lost
    return _read_too_early(model, after) if _reads_archived_tables(model) else None


def _read_too_early(model: Model, state: State) -> str | None:
    writes = [entry for entry in model.component(state, "published") if isinstance(entry, Write)]
    for name in model.actors_of(READER):
        reader = model.component(state, name)
        for write in writes if reader.step == "answered" else ():
            if reader.time < (write.completed or 0) <= _begun(reader):
                return (
                    f"{name} has answered as of t{reader.time}, and began after {write_named(write, write.requested)} "
                    "had returned"
                )
    return None


def _on_reports(model: Model) -> tuple[str, ...]:
    readers = model.actors_of(READER) if _reads_archived_tables(model) else ()
    return ("published", *components_in(model, *REPORTS), *readers, *on_jobs(model))


def _acknowledged(model: Model, state: State) -> bool:
    if value_in(model, state, "lost_answers") or checkpoint_completed(model, state):
        return True
    readers = model.actors_of(READER) if _reads_archived_tables(model) else ()
    return any(own.step == "answered" and _begun(own) for own in (model.component(state, me) for me in readers))


def _begun(reader: Any) -> int:
    return record_of(reader, ReadBegun).begun


ACK = Promise(
    name="ACK",
    about="A write that returned is in every snapshot that begins later; a write reported as failed is in none; "
    "the rows of a complete Flink checkpoint are in the table, or can still be committed.",
    source="RFC-22, atomic commits; docs/contract.md, ACK",
    kind="state",
    holds=acknowledged_holds,
    sometimes=_acknowledged,
    reads=_on_reports,
    unfit=nothing_lost,
)


def nothing_sent_again(model: Model) -> str | None:
    """Return the reason why promise ONCE is not checked for a model; None if it is checked."""
    resent = model.world[Resends].resends and len(model.actors_of(WRITER)) > 1
    there = resent or model.actors_of(STREAM) or flink_jobs(model)
    return None if there else "no batch is sent again here"


def once_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise ONCE: no two completed writes have the same batch id. If a batch is reported as written, some
    commit contains its rows.
    """
    if step is not None and step.action in ANSWERS and (missing := _answered_without_rows(model, step, after)):
        return missing
    for one, other in combinations(_of_batches(model, after), 2):
        if batch_of(model.world, one.actor, one.number) == batch_of(model.world, other.actor, other.number):
            return (
                f"one batch is committed twice: as {write_named(one, one.requested)} and as "
                f"{write_named(other, other.requested)}"
            )
    return committed_twice(model, after) or streams_served(model, after)


def streams_served(model: Model, state: State) -> str | None:
    """Return a sentence if one query of a stream has delivered a write twice, or a stream has skipped a write; None
    otherwise.
    """
    done = {entry.requested: entry for entry in model.component(state, "published") if isinstance(entry, Write)}
    for name in model.actors_of(STREAM):
        own: streams.Stream = model.component(state, name)
        for one, other in combinations(own.sink, 2):
            if one.query == other.query and (twice := {*one.writes} & {*other.writes}):
                again = min(twice)
                return f"{name} has sent {write_named(done.get(again), again)} in two batches of one query"
        present = {requested for batch in own.sink for requested in batch.writes}
        passed = passed_offset(own)
        missed = [w for w in done.values() if streams.offset_of(w) <= passed and w.requested not in present]
        if missed:
            write = min(missed, key=lambda each: each.requested)
            sentence = f"{name} has passed the offset t{passed}, and its sink has no batch with"
            return f"{sentence} {write_named(write, write.requested)}"
    return None


def passed_offset(own: streams.Stream) -> int:
    """Return the offset that a stream has passed. The stream does not resend earlier rows, unless it restarts from an
    older Spark checkpoint.
    """
    ends = own.checkpoint.ends
    # The batch under way has an end already, although it may be sent again.
    under_way = own.step in (streams.SENDS, streams.REFUSED)
    return (0, *ends)[min(own.checkpoint.committed, len(ends) - under_way)]


ANSWERS = ("writer_skips_batch", "writer_takes_back_repeat")
"""The steps that report a batch as written by another attempt."""


def _answered_without_rows(model: Model, step: Step, after: State) -> str | None:
    me, world = step.actor, model.world
    batch = batch_of(world, me, model.component(after, me).number)
    written = [write for write in _of_batches(model, after) if batch_of(world, write.actor, write.number) == batch]
    if any(rows_of(world, write.actor) == rows_of(world, me) for write in written):
        return None
    sentence = f"{me} received the answer that its batch is written, and no commit has its rows"
    others = "; ".join(write_named(write, write.requested) for write in written)
    return f"{sentence}: other rows are committed under its id by {others}" if written else sentence


def _answered(model: Model) -> tuple[str, ...]:
    writers = model.actors_of(WRITER) if model.world[Resends].other_rows else ()
    return ("published", *writers, *model.actors_of(STREAM), *flink_jobs(model))


def _sent(model: Model, state: State) -> bool:
    followers = (model.component(state, name) for name in model.actors_of(STREAM))
    committed = bool(_of_batches(model, state)) or any(own.checkpoint.committed for own in followers)
    return committed or checkpoint_completed(model, state)


def _of_batches(model: Model, state: State) -> list[Write]:
    writes = (entry for entry in model.component(state, "published") if isinstance(entry, Write))
    return [write for write in writes if batch_of(model.world, write.actor, write.number)]


ONCE = Promise(
    name="ONCE",
    about="A batch with an id commits at most once, however often it is sent; a batch reported as written "
    "has committed; a commit of a Flink job names its checkpoint.",
    source="RFC-22, restarts of streaming writers; docs/contract.md, ONCE",
    kind="step",
    holds=once_holds,
    sometimes=_sent,
    reads=_answered,
    unfit=nothing_sent_again,
)

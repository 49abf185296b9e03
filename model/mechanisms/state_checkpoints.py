"""A state checkpoint stores which files of the table are live, so that a read need not process all commits since the
first.

A checkpointer (an actor) lists the timeline, and chooses the checkpoint's time: the latest time at or before which no
more instants can complete. After a second listing, the checkpointer writes the checkpoint: the base file and logs of
each file group that are live as of the checkpoint's time. Reads as of the checkpoint's time or later merge the files in
the checkpoint with the commits that completed afterwards. The checkpointer takes no lock, because a checkpoint is
derived from commits and changes no answer (promise SAME). A restore planned after the checkpoint's time invalidates the
checkpoint, because it may undo writes that the checkpoint includes.
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal, NamedTuple

from ..kernel.compactor import COMPACTOR
from ..kernel.reader import READER
from ..kernel.table import Plan, Table, Write
from ..kernel.timeline import Published
from ..kernel.writer import WRITER
from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism, Together
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import Action, Changes, Guard, limit_left, transition
from ..rules import Rules
from ..world import World
from .archiving.mechanism import ARCHIVER
from .consumers import CONSUMER
from .insert_overwrite import OVERWRITER, replaced
from .log_compaction.mechanism import LOG_COMPACTOR
from .queries import QUERIER
from .restores.mechanism import RESTORER
from .restores.rules import Restore
from .rollback.rollbacker import ROLLBACKER
from .savepoints import SAVEPOINTER

TOOK_TIME, LISTED = "has taken the time of its checkpoint", "has listed the state of its checkpoint"


class StateCheckpoint(NamedTuple):
    """A state checkpoint: the state of a table as of `time`. `table` contains only the files that a read as of `time`
    needs. A compaction in `table` is marked as completed only if that read needs its base file.
    """

    time: int
    table: Table


class Checkpointer(NamedTuple):
    """The state of one checkpointer (an actor that puts state checkpoints). `time` and `checkpoint` are the time and
    the content of the checkpoint that the checkpointer is about to put.
    """

    step: str = "idle"
    time: int = 0
    checkpoint: StateCheckpoint | None = None
    records: tuple[Any, ...] = ()


class StateCheckpoints(Options):
    """The options that decide which commits a read combines with a checkpoint, and what happens after a restore."""

    state_checkpoint_tail: Literal["completion", "requested"] = option(
        "completion",
        "which commits a read adds to a state checkpoint as of T. completion: those that completed after T; requested: "
        "those that were requested after T, so that a write that was pending at T is lost",
    )
    state_checkpoint_restored: Literal["dropped", "used"] = option(
        "dropped",
        "what a reader does with a state checkpoint whose time is before the request of a restore. dropped: it uses "
        "another one, or all commits; used: it shows what the restore has undone",
    )


class CheckpointLimits(Limits):
    """The limit on the number of state checkpoints."""

    state_checkpoints: int = limit(0, "how many state checkpoints may be put", needs="checkpointer")


CHECKPOINTER = Kind(name="checkpointer", prefix="ckpt", first=Checkpointer(), service=True)


def compose(composition: Composition) -> None:
    """Add the component (state variable) `state_checkpoints` and the transitions of every checkpointer to a model."""
    if not composition.actors_of(CHECKPOINTER):
        return
    composition.add_component("state_checkpoints", ())
    for me in composition.actors_of(CHECKPOINTER):
        composition.add(
            transition("checkpointer_takes_time", me, at="idle", to=TOOK_TIME, effect=take_settled_time,
                       guards=(CHECKPOINT_LEFT, HAS_COMPLETED)),
            transition("checkpointer_lists_again", me, at=TOOK_TIME, to=LISTED, effect=list_state),
            transition("checkpointer_puts_checkpoint", me, at=LISTED, effect=put_checkpoint,
                       changes=("own", "state_checkpoints")),
        )  # fmt: skip


def has_completed(settled_time: int) -> bool:
    return settled_time > 0


CHECKPOINT_LEFT = limit_left(
    "a state checkpoint must be left", "state_checkpoints", lambda world: world[CheckpointLimits].state_checkpoints
)
HAS_COMPLETED = Guard("something must have completed", has_completed)


def take_settled_time(own: Checkpointer, settled_time: int) -> Changes:
    """List the timeline, and choose the checkpoint's time: the latest time at or before which no more instants can
    complete.
    """
    return {"own": own._replace(time=settled_time)}


def list_state(
    own: Checkpointer, table: Table, published: Published, unpublished_writes: tuple[Write, ...], rules: Rules,
    world: World,
) -> Changes:  # fmt: skip
    """List the timeline again, and find the live files as of the checkpoint's time. The second listing shows every
    instant that completed at or before the checkpoint's time.
    """
    writes = writes_of_state(table.writes, unpublished_writes, own.time)
    there = rules.table_as_of(table, own.time)._replace(writes=writes)
    return {"own": own._replace(checkpoint=StateCheckpoint(own.time, live_files(rules, there, world.groups)))}


def put_checkpoint(own: Checkpointer, state_checkpoints: tuple[StateCheckpoint, ...]) -> Changes:
    """Put the state checkpoint, so that subsequent reads may use it."""
    assert own.checkpoint is not None, "the second listing made it"
    return {
        "own": own._replace(step="idle", time=0, checkpoint=None),
        "state_checkpoints": (*state_checkpoints, own.checkpoint),
    }


def writes_of_state(writes: tuple[Write, ...], unpublished: tuple[Write, ...], time: int) -> tuple[Write, ...]:
    """Return the writes in a state checkpoint as of `time`: those that completed at or before `time`."""
    return tuple(write for write in writes if (write.completed or inf) <= time)


def live_files(rules: Rules, table: Table, groups: int) -> Table:
    """Return the table restricted to the files that a snapshot query reads: one base file and the newer logs per file
    group.
    """
    read = [rules.base_and_writes(table, group, inf) for group in range(groups)]
    logs = {(group, write.requested) for group, (_, writes) in enumerate(read) for write in writes}
    bases = {barrier for barrier, _ in read}

    def is_live(write: Write, group: int) -> bool:
        """The base file of an overwrite counts as live, because later base files are derived from it."""
        return (group, write.requested) in logs or group in replaced(write)

    left = tuple(w._replace(files=tuple(f for f in w.files if is_live(w, f[0]))) for w in table.writes)
    done = zip(table.plans, table.completed, strict=True)
    return table._replace(writes=left, completed=tuple(c if p.requested in bases else None for p, c in done))


def holds_after(rules: Rules, checkpoint: StateCheckpoint, restores: tuple[Restore, ...]) -> bool:
    """True if a reader may use the state checkpoint, because no restore was requested after the checkpoint's time."""
    if rules[StateCheckpoints].state_checkpoint_restored == "used":
        return True
    return all(restore.requested <= checkpoint.time for restore in restores)


def is_later(rules: Rules, checkpoint: StateCheckpoint, requested: int, completed: int | None) -> bool:
    """True if a read through a state checkpoint must add an instant, because the instant completed after the time of
    the checkpoint.
    """
    if rules[StateCheckpoints].state_checkpoint_tail == "requested":
        return completed is not None and requested > checkpoint.time
    return completed is not None and completed > checkpoint.time


def table_through(rules: Rules, checkpoint: StateCheckpoint, table: Table, time: float) -> Table:
    """Return the table that a read as of `time` through a state checkpoint sees: the files of the checkpoint and of
    newer commits.
    """
    now, state = rules.table_as_of(table, time), checkpoint.table
    held = {write.requested for write in state.writes}
    tail = (w for w in now.writes if w.requested not in held and is_later(rules, checkpoint, w.requested, w.completed))
    plans: dict[int, tuple[Plan, int | None]] = {}
    for plan, done in zip(state.plans, state.completed, strict=True):
        plans[plan.requested] = plan, done
    for plan, done in zip(now.plans, now.completed, strict=True):
        if plan.requested not in plans or is_later(rules, checkpoint, plan.requested, done):
            plans[plan.requested] = plan, done
    ordered = sorted(plans.items())
    found = tuple(plan for _, (plan, _) in ordered), tuple(done for _, (_, done) in ordered)
    writes = sorted((*state.writes, *tail), key=lambda write: write.completed or inf)
    return Table(tuple(writes), *found, now.marks)


OTHERS = (
    ARCHIVER, CHECKPOINTER, COMPACTOR, CONSUMER, LOG_COMPACTOR, OVERWRITER, QUERIER, READER, RESTORER, ROLLBACKER,
    SAVEPOINTER, WRITER,
)  # fmt: skip
"""The kinds of actors that a world with a checkpointer may have."""


MECHANISM = Mechanism(
    compose=compose,
    together=(Together((CHECKPOINTER,), OTHERS),),
    kinds=(CHECKPOINTER,),
    options=StateCheckpoints,
    limits=CheckpointLimits,
    after=("restores", "archiving", "*"),
    actions=(
        Action("checkpointer_takes_time", "lists the timeline; its checkpoint is as of the greatest settled time",
               "{actor} takes the time of a state checkpoint", service=True),
        Action("checkpointer_lists_again", "lists again, and finds the files that are live as of that time",
               "{actor} lists the state for its checkpoint", service=True),
        Action("checkpointer_puts_checkpoint", "puts the state checkpoint, at which later reads may begin",
               "{actor} puts a state checkpoint", service=True),
    ),
)  # fmt: skip

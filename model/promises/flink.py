"""What the promises about failed writers ask of Flink jobs: ACK, ONCE, REC and FIRST."""

from __future__ import annotations

from itertools import combinations

from ..kernel.table import Write
from ..machine.state import State
from ..mechanisms.flink.failover import is_abandoned
from ..mechanisms.flink.job import DOWN, NO_CHECKPOINT, FlinkJob, lost_batch, previous_checkpoint
from ..mechanisms.flink.mechanism import FLINK_JOB
from ..mechanisms.flink.options import FlinkLimits
from ..mechanisms.occ.conflicts import ABORTED
from ..model import Model
from .promise import value_in
from .sentences import write_named


def flink_jobs(model: Model) -> tuple[str, ...]:
    return model.actors_of(FLINK_JOB)


def undoes_jobs(model: Model) -> bool:
    return bool(flink_jobs(model) and model.world[FlinkLimits].undone_instants)


def on_jobs(model: Model) -> tuple[str, ...]:
    """Return the components (state variables) that these checks read."""
    # A world without jobs has no component `undone`.
    return (*flink_jobs(model), "undone") if flink_jobs(model) else ()


def checkpoint_completed(model: Model, state: State) -> bool:
    return any(model.component(state, me).checkpoints for me in flink_jobs(model))


def lost_checkpoint(model: Model, state: State) -> str | None:
    """Return a sentence if a checkpoint was reported complete whose rows can no longer come into the table."""
    for me in flink_jobs(model):
        own: FlinkJob = model.component(state, me)
        published = model.component(state, "published")
        lost = lost_batch(own, me, model.world, published, value_in(model, state, "undone"))
        if lost is not None:
            return (
                f"rows of batch {lost} of {me} are lost: the checkpoint after it is complete, and nothing is left from "
                "which to commit them"
            )
    return None


def committed_twice(model: Model, state: State) -> str | None:
    """Return a sentence if a file of a batch is part of two commits, or if a commit does not name its checkpoint."""
    jobs = set(flink_jobs(model))
    commits = [
        entry for entry in model.component(state, "published") if isinstance(entry, Write) and entry.actor in jobs
    ]
    for one, other in combinations(commits, 2):
        # By file: a batch may be committed in parts, by commits of different checkpoints, each part once.
        if (one.actor, one.number) == (other.actor, other.number) and set(one.files) & set(other.files):
            return (
                f"batch {one.number} of {one.actor} is committed twice: as {write_named(one, one.requested)} and as "
                f"{write_named(other, other.requested)}"
            )
    for each in commits:
        # The first batch of a job is before its first checkpoint, so that its commit rightly names none.
        if each.number > 1 and previous_checkpoint(each) == NO_CHECKPOINT:
            return f"{write_named(each, each.requested)} follows a checkpoint, and names none (checkpoint id -1)"
    return None


def undone_alive(model: Model, state: State) -> str | None:
    """Return a sentence if an instant is rolled back that a live job may still commit, or that is committed."""
    published = {entry.requested: entry for entry in model.component(state, "published")}
    for each in value_in(model, state, "undone"):
        if each.requested in published:
            write = published[each.requested]
            return f"{write_named(write, each.requested)} is completed, and was rolled back"
        # The commit of a job that has found write errors may roll its own instant back.
        for me in flink_jobs(model) if each.by_service else ():
            own: FlinkJob = model.component(state, me)
            alive = own.step != DOWN and not is_abandoned(own, each.requested)
            if each.requested in own.instants and alive:
                return f"{me} is alive, and its instant requested at t{each.requested} is rolled back"
    return None


def conflict_with_own(model: Model, state: State) -> str | None:
    """Return a sentence if a job refuses its own instant because of its own commit."""
    for me in flink_jobs(model):
        own: FlinkJob = model.component(state, me)
        entry = next((e for e in model.component(state, "published") if e.requested == own.conflict), None)
        if own.step == ABORTED and entry is not None and entry.actor == me:
            return (
                f"{me} aborts its instant (requested t{own.requested}) because of "
                f"{write_named(entry, entry.requested)}, its own commit"
            )
    return None

"""With batch ids, a batch commits at most once, even if the caller sends the batch again.

A caller that got no answer sends the same rows again, in a second write with a new instant. A batch has an id and a
digest of its rows; both are recorded in the completed instant. Under the lock, a writer searches for a completed
instant of the same batch, both when requesting an instant and before publishing. The writer searches again before
publishing because two attempts of one batch may be pending at once. If the batch has already completed with a different
digest, the writer raises an error, because its own rows are not stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from ..kernel.lock import LOCK_IS_FREE, release_lock
from ..kernel.publication import ABANDONS, COMMITS
from ..kernel.table import Write
from ..kernel.writer import WRITE_LEFT, WRITER, WRITER_REQUESTS_INSTANT, Writer, give_up
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import Action, Branch, Changes, Guard, go_to, transition
from ..world import World

Published = tuple[Any, ...]

WRITER_SKIPS_BATCH, WRITER_REFUSES_BATCH = "writer_skips_batch", "writer_refuses_batch"


class BatchIds(Options):
    """The options that decide how a writer recognises a batch that has already been committed, and what it does then.
    """

    batch_ids: Literal["checked", "at_request", "ignored"] = option(
        "checked",
        "checked: a writer looks for its batch when it requests an instant and before it publishes. at_request: only "
        "when it requests an instant. ignored: never",
        by=(WRITER.name,),
    )
    replay_difference: Literal["refuse", "keep"] = option(
        "refuse",
        "what happens if other rows have completed under the id of a batch. refuse: the writer ends with an error. "
        "keep: it answers that the batch is written",
    )


class Resends(Limits):
    """The limits on repeated batches."""

    resends: int = limit(
        0, "how many other writers send the batches of the first writer again: the n-th write of each is the same batch"
    )
    other_rows: int = limit(0, "how many of the resending writers, the last ones, send other rows under the same ids")


REPEATED = "the second with its batch"
OTHER_ROWS = "the second with its batch, with other rows"


def batch_of(world: World, actor: str, number: int) -> int:
    """Return the batch id of a write; 0 if the batch is sent only once."""
    place = actor.removeprefix(WRITER.prefix)  # actors of other kinds have no batches
    resends = world[Resends].resends
    return number if resends and place.isdecimal() and int(place) <= resends + 1 else 0


def rows_of(world: World, actor: str) -> int:
    """Return a number that stands for the digest of a writer's rows: equal numbers mean equal rows."""
    limits, place = world[Resends], int(actor.removeprefix(WRITER.prefix)) if batch_of(world, actor, 1) else 0
    return place if place > limits.resends + 1 - limits.other_rows else 0


def completed(world: World, published: Iterable[Any], actor: str, number: int) -> Write | None:
    """Return the completed write of the batch to which a write belongs; None if the batch has not completed."""
    batch = batch_of(world, actor, number)
    if not batch:
        return None
    writes = (entry for entry in published if isinstance(entry, Write))
    return next((write for write in writes if batch_of(world, write.actor, write.number) == batch), None)


def has_other_rows(world: World, published: Iterable[Any], actor: str, number: int) -> bool:
    """True if a write with the same batch id has completed with different rows."""
    write = completed(world, published, actor, number)
    return write is not None and rows_of(world, write.actor) != rows_of(world, actor)


def compose(composition: Composition) -> None:
    """Let each writer check whether its batch has already completed."""
    for me in composition.actors_of(WRITER):
        if not batch_of(composition.world, me, 1):
            continue
        batch_ids = composition.protocol_of(me)[BatchIds].batch_ids
        if batch_ids != "ignored":
            look_at_request(composition, me)
            if batch_ids == "checked":
                look_before_publication(composition, me)


def compares(composition: Composition, me: str) -> bool:
    """True if a writer must compare the digests of rows, because two attempts of one batch can have different rows."""
    refuses = composition.protocol_of(me)[BatchIds].replay_difference == "refuse"
    return refuses and composition.world[Resends].other_rows > 0


def look_at_request(composition: Composition, me: str) -> None:
    """Let a writer skip a write if its batch has completed before the writer requests an instant."""
    composition.select(WRITER_REQUESTS_INSTANT, actors=[me]).require(BATCH_IS_NEW)
    idle = (WRITE_LEFT, LOCK_IS_FREE)
    skips = transition(WRITER_SKIPS_BATCH, me, at="idle", guards=(*idle, BATCH_IS_THERE), effect=skip_batch)
    if not compares(composition, me):
        composition.add(skips)
        return
    composition.add(
        skips.require(Guard("its rows must be those of its batch", next_has_other_rows, negated=True)),
        transition(WRITER_REFUSES_BATCH, me, at="idle", guards=(*idle, OTHER_ROWS_ARE_THERE), effect=skip_batch),
    )


def look_before_publication(composition: Composition, me: str) -> None:
    """Let a writer abandon a write if its batch has completed since the writer requested the instant."""
    differs = compares(composition, me)
    found = Branch(own_has_other_rows, (release_lock, go_to(OTHER_ROWS)), (release_lock, go_to(REPEATED)))
    commits = composition.select(COMMITS, actors=[me]).require(NOT_REPEATED)
    commits.exit(lambda _: transition("writer_finds_batch", me, guards=(~NOT_REPEATED,), changes=("own", "lock"),
                                          to="" if differs else REPEATED, effect=found if differs else release_lock,
                                          tags=(ABANDONS,)))  # fmt: skip
    composition.add(transition("writer_takes_back_repeat", me, at=REPEATED, guards=(LOCK_IS_FREE,), effect=give_up))
    if differs:
        composition.add(transition("writer_takes_back_other_rows", me, at=OTHER_ROWS, guards=(LOCK_IS_FREE,),
                                   effect=give_up))  # fmt: skip


def batch_is_there(own: Writer, me: str, world: World, published: Published) -> bool:
    return completed(world, published, me, own.number + 1) is not None


def batch_is_new(own: Writer, me: str, world: World, published: Published) -> bool:
    """True if no completed write contains the batch that the writer will write next."""
    return completed(world, published, me, own.number + 1) is None


def is_not_repeated(own: Writer, me: str, world: World, published: Published) -> bool:
    """True if no completed write contains the batch that the writer is writing."""
    return completed(world, published, me, own.number) is None


def next_has_other_rows(own: Writer, me: str, world: World, published: Published) -> bool:
    return has_other_rows(world, published, me, own.number + 1)


def own_has_other_rows(own: Writer, me: str, world: World, published: Published) -> bool:
    return has_other_rows(world, published, me, own.number)


BATCH_IS_THERE = Guard("its batch must have completed", batch_is_there)
BATCH_IS_NEW = Guard("its batch must not have completed", batch_is_new)
NOT_REPEATED = Guard("another writer must not have completed its batch", is_not_repeated)
OTHER_ROWS_ARE_THERE = Guard("its batch must have completed with other rows", next_has_other_rows)


def skip_batch(own: Writer) -> Changes:
    """Skip the write, because its batch has already completed."""
    return {"own": Writer(number=own.number + 1)}


def check(world: World) -> None:
    """Raise ValueError if `other_rows` is greater than `resends`."""
    limits = world[Resends]
    if limits.other_rows > limits.resends:
        raise ValueError(f"world: other_rows is a part of resends, found {limits.other_rows} of {limits.resends}")


def batch_and_rows(world: World, actor: str, number: int) -> tuple[int, int]:
    """Return the batch id and the row count of a write. Two writers are symmetric only if their writes have the same
    batch ids and row counts.
    """
    return batch_of(world, actor, number), rows_of(world, actor)


MECHANISM = Mechanism(
    compose=compose,
    after=("completion",),
    options=BatchIds,
    limits=Resends,
    check=check,
    of_write=batch_and_rows,
    actions=(
        Action(WRITER_SKIPS_BATCH, "under the lock: finds its batch completed, and begins nothing",
               "{actor} finds its batch completed before it begins"),
        Action("writer_finds_batch", "under the lock: finds its batch completed by another writer; releases the lock",
               "{actor} finds that its batch has been completed by another"),
        Action("writer_takes_back_repeat", "deletes its files, then, under the lock, its pending instant",
               "{actor} takes its files and its instant back"),
        Action(WRITER_REFUSES_BATCH,
               "under the lock: finds other rows completed under its batch's id; raises an error",
               "{actor} finds other rows under its batch's id before it begins, and raises an error"),
        Action("writer_takes_back_other_rows",
               "deletes its files, then, under the lock, its pending instant; raises an error",
               "{actor} takes its files and its instant back, and raises an error"),
    ),
)  # fmt: skip

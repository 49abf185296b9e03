"""Generates random worlds (sets of actors and limits) and random rows. Each choice is made by drawing one random
number, so that Hypothesis can shrink a counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from nbcc.engine.data.bucket import buckets_of
from nbcc.model import Record, World
from nbcc.model.answers import Several
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.options import declarations, overrides
from nbcc.model.mechanisms import kinds, limits
from nbcc.model.mechanisms.bulk_insert.mechanism import BULK_INSERTER
from nbcc.model.mechanisms.exactly_once import batch_of, rows_of
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.mechanisms.partial_updates import column_names
from nbcc.model.mechanisms.record_index.rules import InsertLimits
from nbcc.model.world import MOST_ACTORS

from ...observables import Batch
from ..schedule import Choose
from ..systems.resized import bucket_of_range

OF_THEMES = 2
"""The most actors that a theme adds to a random world."""
DELETE_ONE_IN = 4
REPEATED_ONE_IN = 6


def draw_world(choose: Choose, of: Collection[str] | None = None) -> World:
    """Return a random world (a set of actors and limits), within the bounds that each mechanism declares for random
    worlds.

    The world has at most 3 buckets, 2 partitions and 2 writes for each writer. A random number of 0 selects the
    simplest alternative, so that Hypothesis shrinks towards simple worlds. The argument `of` contains the kinds of
    actors that the world may have; by default, all kinds.
    """
    actors = dict.fromkeys(kinds(), 0)
    # In the order of names: a new mechanism must not change what a seed draws for the others before it.
    for kind in sorted(kinds() if of is None else of):
        actors[kind] = _one_of(choose, kinds()[kind].in_random_worlds)
    while sum(actors.values()) > MOST_ACTORS - OF_THEMES:  # rare: one world in some thousands
        actors[max(actors, key=lambda kind: actors[kind])] -= 1
    buckets, partitions = 1 + choose(3), 1 + choose(2)
    # Two writes in one of four worlds: they multiply the length of a history.
    per_writer = 1 + int(choose(4) == 3)
    shapes = {
        (f"w{writer}", number): _shape(choose, buckets * partitions)
        for writer in range(1, actors[WRITER.name] + 1)
        for number in range(1, per_writer + 1)
    }
    bulk_inserters = range(1, actors.get(BULK_INSERTER.name, 0) + 1)
    shapes |= {(BULK_INSERTER.actor(number), 1): _groups(choose, buckets * partitions) for number in bulk_inserters}
    return World(
        actors=actors,
        merge_mode="COMMIT_TIME_ORDERING" if choose(3) == 2 else "EVENT_TIME_ORDERING",
        buckets=buckets,
        partitions=partitions,
        writes_per_writer=per_writer,
        compactions=1 + choose(2),
        writes=shapes,
        **_limits(choose, actors),
    )


def modelled_part(choose: Choose, world: World, fits: Callable[[World], bool]) -> World | None:
    """Return a part of a random world for which `fits` is true: with its writers, and with as many of its other actors
    and limits as fit. Of two that exclude each other, a random one stays. Returns None if the writers alone do not fit.
    """
    needs = {name: says["needs"] for part in limits() for name, says in declarations(part).items()}
    chosen = {name: value for part in world.limits.values() for name, value in overrides(part).items()}
    plain, alone = World().flat(), {WRITER.name: world.actors[WRITER.name]}
    # From the least world upwards. Taking away from the whole one would leave pairs that exclude each other to chance.
    found = _fitting(world, fits, actors=alone, settings={}, **{name: plain[name] for name in chosen})
    left = [kind for kind, count in world.actors.items() if count and kind not in alone]
    left += [name for name in chosen if not needs[name]]
    while found is not None and left:
        # In random order, so that each of two that exclude each other has its turn.
        name = left.pop(choose(len(left)))
        own = {limit: value for limit, value in chosen.items() if name in (limit, needs[limit])}
        counts = range(world.actors.get(name, 0), 0, -1)
        changes = [{"actors": {**found.actors, name: count}, **own} for count in counts] or [own]
        larger = (_fitting(found, fits, **change) for change in changes)
        found = next((each for each in larger if each is not None), found)
    return found


def _fitting(world: World, fits: Callable[[World], bool], **changes: Any) -> World | None:
    """Return a changed world if there is such a world, and `fits` is true for it."""
    try:
        changed = world.replace(**changes)
    except ValueError:  # an actor needs another kind of actors
        return None
    return changed if fits(changed) else None


def _limits(choose: Choose, actors: Mapping[str, int]) -> dict[str, int]:
    every = (each for part in limits() for each in declarations(part).items())
    declared = {name: declaration for name, declaration in every if declaration["in_random_worlds"]}
    return {
        name: _one_of(choose, says["in_random_worlds"])
        for name, says in declared.items()
        if not says["needs"] or actors.get(says["needs"])
    }


def _one_of(choose: Choose, numbers: Sequence[int]) -> int:
    """Return a random element of ``numbers``."""
    return numbers[choose(len(numbers)) if len(numbers) > 1 else 0]


def _shape(choose: Choose, groups: int) -> tuple[int, ...]:
    first = choose(groups)
    return tuple(1 + int(choose(4) == 3) if group == first or choose(2) else 0 for group in range(groups))


def _groups(choose: Choose, groups: int) -> tuple[int, ...]:
    first = choose(groups)
    return tuple(1 if group == first or choose(2) else 0 for group in range(groups))


def draw_batches(choose: Choose, world: World, repeats: bool = False) -> dict[tuple[str, int], Batch]:
    """Return random rows for every write of the world. Keys and ordering values are drawn from small ranges, so that
    rows of different writes often collide.

    If a write puts several log files in a file group, each of its log files has exactly one row. Otherwise, each of its
    log files has 1 to ``world.keys`` rows. If `repeats` is True, a batch may contain two records with the same key.
    """
    batches: dict[tuple[str, int], Batch] = {}
    repeats = repeats and not world.custom
    for writer in range(1, world.actors.get(WRITER.name, 0) + 1):
        for number in range(1, world.writes_per_writer + 1):
            actor = f"w{writer}"
            batch = _sent_before(batches, world, actor, number)
            # A batch that is sent again must have the rows that were sent before, or it is another batch.
            if batch is None:
                drawn = _batch(choose, world, actor, number)
                batch = _with_repeats(choose, world, drawn) if repeats else drawn
            batches[actor, number] = batch
    for number in range(1, world.actors.get(BULK_INSERTER.name, 0) + 1):
        actor = BULK_INSERTER.actor(number)
        batches[actor, 1] = _batch(choose, world, actor, 1, deletes=False)
    for number in range(1, world.actors.get(OVERWRITER.name, 0) + 1):
        actor = OVERWRITER.actor(number)
        batches[actor, 1] = _replacing(choose, world, actor)
    return batches


def _sent_before(batches: dict[tuple[str, int], Batch], world: World, actor: str, number: int) -> Batch | None:
    if not (sent := batch_of(world, actor, number)):
        return None
    of_batch = ((other, batch) for (other, n), batch in batches.items() if batch_of(world, other, n) == sent)
    return next((batch for other, batch in of_batch if rows_of(world, other) == rows_of(world, actor)), None)


def _replacing(choose: Choose, world: World, actor: str) -> Batch:
    """Return random rows for an insert overwrite. On average, one in three overwrites has no rows and therefore deletes
    the partition.
    """
    batch = _batch(choose, world, actor, 1, deletes=False)
    return {file: {} for file in batch} if choose(3) == 2 else batch


def _batch(choose: Choose, world: World, actor: str, number: int, deletes: bool = True) -> Batch:
    """Return the rows of one write. If `deletes` is False, as for bulk inserts and overwrites, the batch has no deletes
    and at most one file in each file group.
    """
    files = tuple(file for file in world.files(actor, number) if deletes or file[1] == 1)
    rolled = any(version > 1 for _, version in files)
    sets = _columns(choose, world, some=deletes)
    batch: dict[tuple[int, int], dict[str, Record]] = {}
    used: dict[int, list[str]] = {}
    for group, version in files:
        # The files of one write share no key: which of two records is the later one is `_with_repeats`' question.
        left = used.setdefault(group, list(keys_of(world, group)))
        rows = 1 if rolled else 1 + choose(min(len(left), world.keys))
        batch[group, version] = {
            left.pop(choose(len(left))): Record(
                ordering=1 + choose(world.orderings),
                value=f"{actor}.{number}",
                deleted=deletes and not is_new(world, group) and choose(DELETE_ONE_IN) == DELETE_ONE_IN - 1,
                sets=sets,
            )
            for _ in range(rows)
        }
    return batch


def _with_repeats(choose: Choose, world: World, batch: Batch) -> Batch:
    """Return the batch with a second record added for randomly chosen keys. The two records of a key have different
    ordering values, because a writer rejects equal ones.
    """
    others = world.orderings - 1

    def entry(record: Record) -> Record | Several:
        # With one ordering value every second record would tie, and the writer rejects ties.
        if not others or choose(REPEATED_ONE_IN) != REPEATED_ONE_IN - 1:
            return record
        again = record._replace(
            ordering=1 + (record.ordering + choose(others)) % world.orderings,
            value=f"{record.value}b",
            deleted=choose(DELETE_ONE_IN) == DELETE_ONE_IN - 1,
        )
        return Several((record, again))

    return {file: {key: entry(record) for key, record in records.items()} for file, records in batch.items()}


def _columns(choose: Choose, world: World, some: bool) -> tuple[str, ...]:
    names = column_names(world)
    place = choose(len(names) + 1) if some and names else len(names)
    return names if place == len(names) else (names[place],)


def is_new(world: World, group: int) -> bool:
    """True if a record index has no key of the group. The engine lets a write delete such a key, which inserts nothing.
    """
    return world[InsertLimits].new_keys > 0 and group == world.groups - 1


def keys_of(world: World, group: int) -> tuple[str, ...]:
    """Return the record keys of a file group. The number of keys is `world.keys`, or more if some write has more log
    files than that in one file group.
    """
    partition, bucket = divmod(group, world.buckets)
    most = max(world.keys, world.log_versions, *(max(shape) for shape in world.writes.values()), 1)
    if is_new(world, group):
        most = 1  # the model inserts all of its new keys into one file group
    return _keys(partition, bucket_of_range(bucket, world), world.buckets, most)


@cache
def _keys(partition: int, bucket: int, buckets: int, count: int) -> tuple[str, ...]:
    letter = "abcdefghijklmnopqrstuvwxyz"[partition]
    # Eight times as many as needed on average: a hash spreads them unevenly over the buckets.
    names = [f"{letter}{n}" for n in range(count * buckets * 8)]
    homes = buckets_of([pa.array(names)], buckets).tolist()
    return tuple(name for name, home in zip(names, homes, strict=True) if home == bucket)[:count]

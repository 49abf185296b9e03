"""Shows a table of the engine with a record index in the terms of the model, in a world with new keys.

A file group of the model is a partition of the engine's table, which has one bucket. The index has the keys of every
file group but the last. The model calls the new keys the last file group; in the engine they are in one of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import pyarrow as pa

from nbcc.engine.config import TableConfig, to_properties
from nbcc.engine.config.properties import encode_properties
from nbcc.engine.config.record_index import GLOBAL_INDEX, INSERTS, RecordIndex
from nbcc.engine.context import Context
from nbcc.engine.data.columns import RECORD_KEY
from nbcc.engine.data.read import log_layers
from nbcc.engine.data.shape import table_shape
from nbcc.engine.data.tasks import LogInput
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.files.record_index import put_locations
from nbcc.engine.files.slices import FileSlice
from nbcc.engine.names import bucket_file_id
from nbcc.engine.storage import Storage
from nbcc.model import Protocol, Step, World
from nbcc.model.mechanisms.record_index.mechanism import FINDS_KEYS, FINDS_KEYS_INSERTED, INSERTS_KEYS
from nbcc.model.mechanisms.record_index.rules import InsertLimits, Inserts, home
from nbcc.model.mechanisms.rollback.heartbeat import WRITER_IS_REFUSED

from ...observables import Batch, records_in
from ...users_factory import CannotPlay
from ..control.clock import instant_of
from ..crosscheck.generators import keys_of
from .resized import Entry

BUILT = instant_of(0)
"""The time at which the index is built, before all instants of a world."""


def has_new_keys(world: World) -> bool:
    return world[InsertLimits].new_keys > 0


def record_index(world: World, protocol: Protocol) -> RecordIndex | None:
    return RecordIndex(GLOBAL_INDEX, BUILT, protocol[Inserts].inserts) if has_new_keys(world) else None


def check_inserts(world: World, protocol: Protocol) -> None:
    """Raise CannotPlay for a protocol under which the engine inserts no keys, or a world with its files in another
    order.
    """
    if not has_new_keys(world):
        return
    if protocol[Inserts].inserts not in INSERTS:
        why = "its readers merge no record in another partition"
        raise CannotPlay(
            f"the engine plays new keys with inserts = {' or '.join(INSERTS)}: {why}; run it on the model instead"
        )
    if protocol[Inserts].inserts == "moved" and any(sum(map(bool, shape)) > 1 for shape in world.writes.values()):
        what, why = "one write of known and new keys", "in one partition, it puts the records of both into one log"
        raise CannotPlay(f"the engine does not play {what}: {why}; run it on the model instead")


def put_table(storage: Storage, config: TableConfig, world: World) -> None:
    """Put the properties of an empty table, and the files of its index if the world has new keys."""
    storage.put_if_absent(PROPERTIES, encode_properties(to_properties(config)))
    for group in range(world.groups - 1 if has_new_keys(world) else 0):
        keys = pa.array(keys_of(world, group))
        put_locations(storage, BUILT, bucket_file_id(0), f"0-0-{group}", keys, pa.array([f"p{group}"] * len(keys)))


def partition_of(group: int, batch: Batch, world: World) -> int:
    """Return the number of the partition into which a write puts its records of a file group."""
    if not has_new_keys(world):
        return group // world.buckets
    return group if group < world.groups - 1 else _chosen(batch, world)


def _chosen(batch: Batch, world: World) -> int:
    """Return the partition that the rows of new keys name: any of them, depending on the values of the rows."""
    new = (records for (group, _), records in batch.items() if group == world.groups - 1)
    found = [record for records in new for entry in records.values() for record in records_in(entry)]
    return sum(record.ordering + ord(str(record.value)[1:2] or "0") for record in found) % (world.groups - 1)


def inserts_otherwise(model: Any, state: Any, step: Step, batch: Batch | None) -> bool:
    """True if a writer of the engine does not take this step of the model: it inserts a new key into the partition that
    its row names, unless the key was there at its request. It looks first whether it was rolled back, and then for its
    keys.
    """
    world = model.world
    if step.action == FINDS_KEYS_INSERTED:
        return any((each.actor, each.action) == (step.actor, WRITER_IS_REFUSED) for each in model.enabled(state))
    if step.action not in (FINDS_KEYS, INSERTS_KEYS) or not batch:
        return False
    if model.protocol[Inserts].inserts != "moved" or all(group != world.groups - 1 for group, _ in batch):
        return False
    chosen = _chosen(batch, world)
    is_known = home(model.rules, model.table(state), model.component(state, step.actor).requested) == chosen
    if step.action == FINDS_KEYS:
        return not is_known
    return is_known or dict(step.args)["file_group"] != chosen


def slices_by_key(
    context: Context, config: TableConfig, shown: Iterable[FileSlice], world: World, tick_of: Callable[[str], int]
) -> tuple[Entry, ...]:
    """Return the file slices of the known and of the new keys in each partition. In the model, a base file has only
    those of the two of which the slice before has a log.
    """
    shape, group_of = table_shape(config, context.rules), _groups(world)
    entries: dict[tuple[int, int], list[Entry]] = {}

    @cache
    def groups_in(path: str, requested: str) -> frozenset[int]:
        layers = log_layers(context.storage, LogInput(path, requested), shape)
        parts = (part for layer in layers for part in (layer.rows, layer.deletes) if len(part))
        return frozenset(group_of[key] for part in parts for key in part[RECORD_KEY].to_pylist())

    for piece in sorted(shown, key=lambda piece: (piece.partition, piece.barrier or "")):
        number = int(piece.partition[1:])
        logs = [(groups_in(log.path, log.requested), (tick_of(log.requested), log.version)) for log in piece.logs]
        for group in (number, world.groups - 1):
            own, there = tuple(log for groups, log in logs if group in groups), entries.setdefault((number, group), [])
            new = entries.get((number, world.groups - 1))
            is_first = not there and piece.base and group == number and not new  # a clean has deleted those before
            if is_first or (there and there[-1][3] and piece.barrier):
                base = tick_of(piece.base.requested) if piece.base else None
                there.append((group, tick_of(piece.barrier or ""), base, own))
            elif there:
                there[-1] = (*there[-1][:3], (*there[-1][3], *own))
            elif own:
                there.append((group, None, None, own))
    found = (entry for there in entries.values() for entry in there)
    return tuple(sorted(found, key=lambda entry: (entry[0], entry[1] or 0)))


def _groups(world: World) -> Mapping[str, int]:
    return {key: group for group in range(world.groups) for key in keys_of(world, group)}

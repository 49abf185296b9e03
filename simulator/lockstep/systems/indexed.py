"""Makes the record index of an engine's table in a world with new keys. It has the keys of every bucket but the last.

The model's file groups of a record index are the buckets of the engine's table, and no bucket has new keys: under
`updates_only` none is ever inserted.
"""

from __future__ import annotations

import pyarrow as pa

from nbcc.engine.config import TableConfig, to_properties
from nbcc.engine.config.properties import encode_properties
from nbcc.engine.config.record_index import GLOBAL_INDEX, RecordIndex
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.files.record_index import put_locations
from nbcc.engine.names import bucket_file_id
from nbcc.engine.storage import Storage
from nbcc.model import Protocol, World
from nbcc.model.mechanisms.record_index.rules import InsertLimits, Inserts

from ...users_factory import CannotPlay
from ..control.clock import instant_of
from ..crosscheck.generators import keys_of

BUILT = instant_of(0)
"""The time at which the index is built, before all instants of a world."""


def record_index(world: World) -> RecordIndex | None:
    return RecordIndex(GLOBAL_INDEX, BUILT) if world[InsertLimits].new_keys else None


def check_inserts(world: World, protocol: Protocol) -> None:
    """Raise CannotPlay for a protocol under which a writer inserts new keys."""
    if world[InsertLimits].new_keys and protocol[Inserts].inserts != "updates_only":
        why = "its upserts insert no key under a record index"
        raise CannotPlay(f"the engine plays new keys with inserts = updates_only: {why}; run it on the model instead")


def put_table(storage: Storage, config: TableConfig, world: World) -> None:
    """Put the properties of an empty table, and the files of its index if the world has new keys."""
    storage.put_if_absent(PROPERTIES, encode_properties(to_properties(config)))
    for bucket in range(world.buckets - 1 if world[InsertLimits].new_keys else 0):
        keys = pa.array(keys_of(world, bucket))
        put_locations(storage, BUILT, bucket_file_id(bucket), "0-0-0", keys, pa.array([""] * len(keys)))

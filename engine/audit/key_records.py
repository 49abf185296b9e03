"""Reads the records of one record key from the data files of the key's file groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..data.bucket import buckets_of
from ..data.columns import IS_DELETED, RECORD_KEY, conform
from ..data.fetch import decoding, fetch, missing
from ..data.keys import KeySpec, hashed_values, key_columns
from ..data.layers import Layer
from ..data.read import log_layers, merged_rows, nothing
from ..data.tasks import BaseInput, LogInput, ReadTask, TableShape
from ..errors import BadInput, NbccError, StorageError
from ..files.group_files import BaseFile, LogFile
from ..parquet import decode_parquet
from ..reads.tasks import base_input, log_inputs
from ..schema import META_COLUMNS
from ..storage import NotFound, Storage

NUMBER: Final = "__number"
"""A column with the number of a record, so that it can be recognised after a merge."""

Kind = Literal["base", "log", "kept"]


@dataclass(frozen=True, slots=True)
class Placement:
    """A data file and its place in the table. `slice` is the barrier (the requested time of the base file) of the
    file's slice. `because` is the reason why reads do not use the file; '' if reads use it. `hidden` is True if no
    slice contains the file.
    """

    file: BaseFile | LogFile
    slice: str | None
    kind: Kind
    because: str = ""
    hidden: bool = False


class KeyRecord(NamedTuple):
    """One record of a key in one file. `layer` is the merge input that contains only this record. `deletes` is True for
    a delete. In a partial update, `sets` contains the columns that the record sets, without those that every record
    sets; None means all columns.
    """

    placement: Placement
    ordering: Any
    deletes: bool
    sets: frozenset[str] | None
    layer: Layer

    @property
    def record(self) -> Literal["row", "delete"]:
        return "delete" if self.deletes else "row"

    @property
    def number(self) -> int:
        part = self.layer.rows if len(self.layer.rows) else self.layer.deletes
        return int(part[NUMBER][0].as_py())


class Merge(NamedTuple):
    """The records of a key in the files that a read merges, in merge order, and the row that the read returns (None if
    it returns no row).
    """

    records: list[KeyRecord]
    row: dict[str, Any] | None


def merged_records(storage: Storage, task: ReadTask, placements: dict[str, Placement], key: str) -> Merge:
    """Read the records of `key` from the files of a read task, and merge them as the task does. Raises `Missing` or
    `Damaged` if a file is missing, or does not have the size that its commit lists.
    """
    records: list[KeyRecord] = []
    layers: list[Layer] = []
    for placement, found in _layers_of(storage, task, placements, key):
        layers.append(found)
        records += _records(found, placement, task.shape, len(records))
    # An empty base file first: the merge expects one, and the key may be in logs alone.
    rows = conform(merged_rows(task, [nothing(task.shape)._replace(base=True), *layers]), task.result_schema)
    shown = [{n: v for n, v in row.items() if n not in META_COLUMNS} for row in rows.to_pylist()]
    return Merge(records, shown[0] if shown else None)


def unread_records(storage: Storage, shape: TableShape, placements: Iterable[Placement], key: str) -> list[KeyRecord]:
    """Return the records of `key` in files that no read uses. A file that is missing or damaged is skipped, because
    it changes no answer.
    """
    records: list[KeyRecord] = []
    for placement in placements:
        try:
            for layer in _layers(storage, shape, _input(placement.file), placement.kind, key):
                records += _records(layer, placement, shape, len(records))
        # A storage that fails says nothing about the file, and must not hide a record of the key.
        except StorageError:
            raise
        except (NbccError, NotFound):
            continue
    return records


def _layers_of(
    storage: Storage, task: ReadTask, placements: dict[str, Placement], key: str
) -> Iterator[tuple[Placement, Layer]]:
    files: list[BaseInput | LogInput] = [*task.tombstones, *task.logs]
    if task.base_input:
        files.insert(0, task.base_input)
    for file in files:
        placement = placements[file.path]
        kind: Kind = "base" if isinstance(file, BaseInput) else "kept" if file in task.tombstones else "log"
        try:
            for layer in _layers(storage, task.shape, file, kind, key):
                yield placement, layer
        except NotFound:
            raise missing(file.path) from None


def _input(file: BaseFile | LogFile) -> BaseInput | LogInput:
    return base_input(file) if isinstance(file, BaseFile) else log_inputs([file])[0]


def _layers(storage: Storage, shape: TableShape, file: BaseInput | LogInput, kind: Kind, key: str) -> Iterator[Layer]:
    """Yield the merge layers of a file that contain records of `key`, without other keys."""
    if isinstance(file, LogInput):
        for layer in log_layers(storage, file, shape, base=kind == "kept"):
            rows, deletes = (part.filter(pc.equal(part[RECORD_KEY], key)) for part in (layer.rows, layer.deletes))
            if len(rows) or len(deletes):
                yield layer._replace(rows=rows, deletes=deletes)
        return
    data = fetch(storage, file)
    with decoding(file.path):
        # The keys first: most base files of a table lack the key, and the other columns are most of the bytes.
        keys = decode_parquet(data, file.path, [RECORD_KEY], bounds=shape.limits)[RECORD_KEY].to_pylist()
        whole = decode_parquet(data, file.path, packed=True, bounds=shape.limits) if key in keys else None
        if whole is not None:
            rows = conform(whole.filter(pc.equal(whole[RECORD_KEY], key)), shape.packed_schema)
            yield Layer(rows, shape.deletes_schema.empty_table(), base=True)


def bucket(key: str, shape: TableShape, buckets: int) -> int:
    """Return the bucket of a record key. Raises `BadInput` if `key` does not have the form of the table's record keys.
    """
    spec = KeySpec(shape.keys.record_key)
    spelled = pa.table({RECORD_KEY: pa.array([key])})
    try:
        values = pa.table(key_columns(spelled, spec, shape.schema))
    except (pa.ArrowInvalid, IndexError):
        raise BadInput(f"look up the key {key!r}", f"keys of this table are {_form(shape)}", "use that form") from None
    return int(buckets_of(hashed_values(values, spec), buckets)[0])


def _form(shape: TableShape) -> str:
    fields = [(name, shape.schema.field(name).type) for name in shape.keys.record_key]
    if not shape.keys.named:
        return f"the {fields[0][1]} values of {fields[0][0]}"
    return "spelled " + ",".join(f"{name}:<{kind}>" for name, kind in fields)


def _records(layer: Layer, placement: Placement, shape: TableShape, first: int) -> Iterator[KeyRecord]:
    """Yield the records of one merge input, rows before deletes."""
    ordering = shape.merge.ordering
    sets = None if layer.sets is None else layer.sets - {*META_COLUMNS, *shape.merge.always}
    number = first
    for is_delete, part in ((False, layer.rows), (True, layer.deletes)):
        for at in range(len(part)):
            one = part.slice(at, 1).append_column(NUMBER, pa.array([number], pa.int64()))
            other = (layer.rows if is_delete else layer.deletes).slice(0, 0)
            empty = other.append_column(NUMBER, pa.array([], pa.int64()))
            alone = layer._replace(rows=empty if is_delete else one, deletes=one if is_delete else empty)
            value = one[ordering][0].as_py() if ordering else None
            flagged = IS_DELETED in one.column_names and bool(one[IS_DELETED][0].as_py())
            yield KeyRecord(placement, value, is_delete or flagged, sets, alone)
            number += 1

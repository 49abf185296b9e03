"""Reads the records of one record key from the data files of the key's file groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..data.bucket import buckets_of
from ..data.columns import IS_DELETED, RECORD_KEY, conform
from ..data.fetch import decoding, fetch, missing
from ..data.keys import KeySpec, hashed_values, key_columns
from ..data.layers import Layer
from ..data.read import log_layers
from ..data.tasks import BaseInput, LogInput, TableShape
from ..errors import BadInput, NbccError, StorageError
from ..files.group_files import BaseFile, LogFile
from ..names import bucket_of
from ..parquet import decode_parquet
from ..schema import META_COLUMNS
from ..storage import NotFound, Storage

NUMBER: Final = "__number"
"""A column with the number of a record, so that it can be recognised after a merge."""

Kind = Literal["base", "log", "tombstone"]


@dataclass(frozen=True, slots=True)
class Placement:
    """A data file and its place in the merge of a key's records.

    `slice` is the barrier (the requested time of the base file) of the file's slice. `position` is the file's place in
    the merge order; None if reads do not use the file. `because` is the reason why reads do not use the file. `hidden`
    is True if no slice contains the file.
    """

    file: BaseFile | LogFile
    slice: str | None
    kind: Kind
    position: int | None
    because: str = ""
    hidden: bool = False


class KeyRecord(NamedTuple):
    """One record of a key in one file. `row` is None for a delete. `layer` is the merge input that contains only this
    record.
    """

    placement: Placement
    ordering: Any
    row: dict[str, Any] | None
    layer: Layer

    @property
    def record(self) -> Literal["row", "delete"]:
        return "delete" if self.row is None else "row"


def key_records(
    storage: Storage, shape: TableShape, placements: Iterable[Placement], key: str, buckets: int | None
) -> list[KeyRecord]:
    """Return the records of `key` in all files of `placements`, in the order of `placements`.

    `buckets` is the number of buckets of the table; only file groups in the key's bucket are read. If `buckets` is
    None, all file groups are read. If a file cannot be decoded and no read uses it, the file is skipped. Raises
    `BadInput` if `key` does not have the form of the table's record keys.
    """
    bucket = None if buckets is None else _bucket(key, shape, buckets)
    records: list[KeyRecord] = []
    for placement in placements:
        if bucket is not None and bucket_of(placement.file.file_id) != bucket:
            continue
        try:
            layers = list(_layers(storage, shape, placement, key))
        except (NbccError, NotFound) as unread:
            if placement.position is None and not isinstance(unread, StorageError):
                continue
            if isinstance(unread, NotFound):
                raise missing(placement.file.path) from None
            raise
        for layer in layers:
            records += _records(layer, placement, shape, len(records))
    return records


def _bucket(key: str, shape: TableShape, buckets: int) -> int:
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


def _layers(storage: Storage, shape: TableShape, placement: Placement, key: str) -> Iterator[Layer]:
    file = placement.file
    if isinstance(file, LogFile):
        whole_size = (file.size, file.appended) if placement.position is not None else ()
        log = LogInput(file.path, file.requested, *whole_size)
        for layer in log_layers(storage, log, shape, base=placement.kind == "tombstone"):
            rows, deletes = (part.filter(pc.equal(part[RECORD_KEY], key)) for part in (layer.rows, layer.deletes))
            yield Layer(rows, deletes, layer.base)
        return
    data = fetch(storage, BaseInput(file.path, file.size if placement.position is not None else None))
    with decoding(file.path):
        keys = decode_parquet(data, file.path, [RECORD_KEY])[RECORD_KEY].to_pylist()
        whole = decode_parquet(data, file.path) if key in keys else None
    if whole is not None:
        rows = conform(whole.filter(pc.equal(whole[RECORD_KEY], key)), shape.packed_schema)
        yield Layer(rows, shape.deletes_schema.empty_table(), base=True)


def _records(layer: Layer, placement: Placement, shape: TableShape, first: int) -> Sequence[KeyRecord]:
    """Return the records of one merge input, rows before deletes."""
    ordering = shape.merge.ordering or ""
    nothing = Layer(layer.rows.slice(0, 0), layer.deletes.slice(0, 0), layer.base)
    records: list[KeyRecord] = []
    for at in range(len(layer.rows)):
        one = layer.rows.slice(at, 1)
        values = one.to_pylist()[0]
        row = {name: value for name, value in values.items() if name not in META_COLUMNS}
        row_or_delete = None if row.get(IS_DELETED) else row
        alone = _numbered(nothing._replace(rows=one), first + len(records))
        records.append(KeyRecord(placement, values.get(ordering), row_or_delete, alone))
    for at in range(len(layer.deletes)):
        one = layer.deletes.slice(at, 1)
        alone = _numbered(nothing._replace(deletes=one), first + len(records))
        records.append(KeyRecord(placement, one.to_pylist()[0].get(ordering), None, alone))
    return records


def _numbered(layer: Layer, number: int) -> Layer:
    def mark(part: pa.Table) -> pa.Table:
        return part.append_column(NUMBER, pa.array([number] * len(part), pa.int64()))

    return layer._replace(rows=mark(layer.rows), deletes=mark(layer.deletes))

"""Finds the records of logs that a snapshot lacks although they win under the contract's ranks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..parquet import decode_parquet
from ..storage import Storage
from .columns import COMMIT_TIME, RECORD_KEY, conform, one_array
from .fetch import decoding, fetch
from .layers import Layer
from .merge import merge
from .read import log_layers
from .tasks import LogInput, ReadTask

SOURCE: Final = "__source"
"""A column with the number of the log that a record is from; -1 for the records that a snapshot reads."""

_UNKNOWN: Final = "~"  # after every time


class LostLog(NamedTuple):
    """A log that no reader uses, with the completion time that ranks its records."""

    log: LogInput
    completed: str


def lacking_keys(
    storage: Storage, current: ReadTask, lost: Sequence[LostLog], completions: Mapping[str, str]
) -> list[pa.Array]:
    """For each log in `lost`, return the keys whose record in this log must be the answer of a snapshot but is not.

    `current` is the read of the file group by a snapshot. All records are ranked together, as if no log were lost: by
    ordering value, then by completion time. `completions` maps the requested time of each write to its completion time,
    which ranks a row in the base file. A row of an unknown write and a kept delete rank as newer than every lost log.
    The table merges whole rows by event time.
    """
    shape = current.shape
    layers = [(-1, layer) for log in current.tombstones for layer in log_layers(storage, log, shape)]
    layers += [(-1, layer) for log in current.logs for layer in log_layers(storage, log, shape)]
    oldest = [*_base_layers(storage, current, lost, completions)]
    for number, each in enumerate(lost):
        oldest += [((each.completed, False), number, layer) for layer in log_layers(storage, each.log, shape)]
    oldest.sort(key=lambda placed: placed[0])  # stable: the logs of one write stay in their order
    marked = [_marked(layer, number) for number, layer in (*((n, layer) for _, n, layer in oldest), *layers)]
    if not marked:
        return [pa.array([], pa.string()) for _ in lost]
    merged = merge(marked, replace(shape.merge, fold="rank"))
    winners = pa.concat_tables([part.select([RECORD_KEY, SOURCE]) for part in (merged.rows, merged.deletes)])
    return [one_array(winners.filter(pc.equal(winners[SOURCE], number))[RECORD_KEY]) for number in range(len(lost))]


Place = tuple[str, bool]
"""The completion time of a lost log, and whether the records are newer than that log."""


def _base_layers(
    storage: Storage, current: ReadTask, lost: Sequence[LostLog], completions: Mapping[str, str]
) -> Iterator[tuple[Place, int, Layer]]:
    """Yield the rows of the base file in layers, one for each span between the completion times of the lost logs. A row
    that the write of a lost log wrote is the record of the log itself, so its layer comes after the log.
    """
    if current.base_input is None:
        return
    with decoding(current.base_input.path):
        data = fetch(storage, current.base_input)
        rows = conform(decode_parquet(data, current.base_input.path), current.shape.packed_schema)
    bounds = sorted({each.completed for each in lost})
    times = (completions.get(written, _UNKNOWN) for written in rows[COMMIT_TIME].cast(pa.string()).to_pylist())
    spans = pa.array([bisect_right(bounds, time) for time in times], pa.int32())
    for span in range(len(bounds) + 1):
        place = (bounds[span - 1], True) if span else ("", False)
        yield place, -1, Layer(rows.filter(pc.equal(spans, span)), current.shape.deletes_schema.empty_table())


def _marked(layer: Layer, number: int) -> Layer:
    def mark(part: pa.Table) -> pa.Table:
        return part.append_column(SOURCE, pa.array([number] * len(part), pa.int32()))

    return layer._replace(rows=mark(layer.rows), deletes=mark(layer.deletes))

"""Implements copy-on-write: merges the rows of a batch with the base file of a file group, and writes a new base file.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ..file_names import BaseName
from ..storage import Storage
from .columns import conform, is_deleted
from .layers import Layer
from .memory import bounded
from .merge import merge
from .put_files import put_base_file
from .read import base_rows
from .tasks import BaseInput, TableShape, WrittenFile


def rewrite_group(
    storage: Storage, shape: TableShape, partition: str, name: BaseName, rows: pa.Table, *, before: BaseInput | None
) -> WrittenFile:
    """Merge `rows` with the rows of the base file `before`, if given, and write the result as a base file. `rows` must
    have Hudi's meta columns.

    Deleted rows are omitted from the new base file, without tombstones, as in Hudi.
    """
    layers = [_batch(rows, shape)]
    if before is not None:
        layers.insert(0, Layer(base_rows(storage, before, shape), shape.deletes_schema.empty_table(), base=True))
    merged = merge(bounded(layers, shape.limits, f"the file group {name.file_id}"), shape.merge)
    written = put_base_file(storage, partition, name, conform(merged.rows, shape.stored_schema))
    return replace(written, deletes=len(merged.deletes), before=before.path if before else None)


def _batch(rows: pa.Table, shape: TableShape) -> Layer:
    flags = is_deleted(rows)
    kept, deleted = (rows, rows.slice(0, 0)) if flags is None else (rows.filter(pc.invert(flags)), rows.filter(flags))
    return Layer(conform(kept, shape.packed_schema), conform(deleted, shape.deletes_schema))

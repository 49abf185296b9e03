"""Defines `Predicate`, a condition on rows that can also exclude files and row groups by their value ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from .columns import conform
from .ranges import Range, Ranges

_NAME: Final = "selected"


@dataclass(frozen=True, slots=True, eq=False)
class Predicate:
    """A condition that selects the rows for which `expression` is true. Rows for which `expression` is null are not
    selected.

    `schema` contains the columns that the expression reads, with their types in the table. `equal` maps a column to a
    value if the condition can be true only for this value.
    """

    expression: pc.Expression
    schema: pa.Schema
    equal: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the expression reads."""
        return tuple(self.schema.names)

    def mask(self, rows: pa.Table) -> pa.ChunkedArray:
        """Return a mask of the rows that the predicate selects."""
        if not len(rows):
            return pa.chunked_array([], pa.bool_())
        from pyarrow import acero  # it imports pandas, which takes half a second

        source = acero.Declaration("table_source", acero.TableSourceNodeOptions(conform(rows, self.schema)))
        project = acero.Declaration("project", acero.ProjectNodeOptions([self.expression], [_NAME]))
        masks = acero.Declaration.from_sequence([source, project]).to_table(use_threads=False)
        return pc.fill_null(masks[_NAME], False)

    def filter(self, rows: pa.Table) -> pa.Table:
        """Return the rows that the predicate selects, in unchanged order."""
        return rows.filter(self.mask(rows))

    def may_match(self, ranges: Ranges) -> bool:
        """Return False if the predicate cannot select any row with values in `ranges`."""
        return self.among([ranges])[0]

    def among(self, ranges: Sequence[Ranges]) -> list[bool]:
        """Return the result of `may_match` for each element of `ranges`, computed by pyarrow's partition pruning. If
        pyarrow cannot simplify the expression, the result is True for every file.
        """
        import pyarrow.dataset as ds
        from pyarrow import fs

        parquet, files = ds.ParquetFileFormat(), fs.LocalFileSystem()
        fragments = [
            parquet.make_fragment(str(number), files, partition_expression=self._guarantee(each))
            for number, each in enumerate(ranges)
        ]
        dataset = ds.FileSystemDataset(fragments, self.schema, parquet, files)
        left = {fragment.path for fragment in dataset.get_fragments(filter=self.expression)}
        return [str(number) in left and not _has_no_rows(each) for number, each in enumerate(ranges)]

    def _guarantee(self, ranges: Ranges) -> pc.Expression:
        parts = [part for name in self.columns if name in ranges for part in _true(pc.field(name), ranges[name])]
        return reduce(and_, parts, pc.scalar(True))


def _has_no_rows(ranges: Ranges) -> bool:
    return any(not known.values and not known.nulls for known in ranges.values())


def _true(column: pc.Expression, known: Range) -> list[pc.Expression]:
    """Return conditions that every value of a column with the value range `known` satisfies."""
    if not known.values:
        return [column.is_null()]
    if known.least is not None and known.most is not None and known.least.equals(known.most) and not known.nulls:
        return [column == pc.scalar(known.least)]
    bounds = []
    if known.least is not None:
        bounds.append(column >= pc.scalar(known.least))
    if known.most is not None:
        bounds.append(column <= pc.scalar(known.most))
    if known.nulls:
        return [bound | column.is_null() for bound in bounds]
    return [*bounds, column.is_valid()]

"""Defines `Predicate`, a condition on rows that can also exclude files and row groups by their value ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import BadInput
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
        try:
            masks = acero.Declaration.from_sequence([source, project]).to_table(use_threads=False)
        except pa.ArrowException as failed:
            remedy = "cast the column in the condition to a type that has room for all of its values"
            raise BadInput(f"read where {text_of(self.expression)}", f"a row fails ({failed})", remedy) from None
        return pc.fill_null(masks[_NAME], False)

    def filter(self, rows: pa.Table) -> pa.Table:
        """Return the rows that the predicate selects, in unchanged order."""
        return rows.filter(self.mask(rows))

    def may_match(self, ranges: Ranges) -> bool:
        """Return False if the predicate cannot select any row with values in `ranges`."""
        return self.among([ranges])[0]

    def among(self, ranges: Sequence[Ranges]) -> list[bool]:
        """Return the result of `may_match` for each element of `ranges`, computed by pyarrow's partition pruning. If
        pyarrow cannot simplify the expression, the result is True for every file. The result is also True for a file
        for whose ranges pyarrow fails to compute the expression, because no selected row may have these values.
        """
        try:
            return self._among(ranges)
        except pa.ArrowException:
            return [True] if len(ranges) == 1 else [self.may_match(each) for each in ranges]

    def _among(self, ranges: Sequence[Ranges]) -> list[bool]:
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
    least, most = _beyond_zero(known.least, -np.inf), _beyond_zero(known.most, np.inf)
    if least is not None and most is not None and least.equals(most) and not known.nulls:
        return [column == pc.scalar(least)]
    bounds = []
    if least is not None:
        bounds.append(column >= pc.scalar(least))
    if most is not None:
        bounds.append(column <= pc.scalar(most))
    if known.nulls:
        return [bound | column.is_null() for bound in bounds]
    return [*bounds, column.is_valid()]


def _beyond_zero(bound: pa.Scalar | None, towards: float) -> pa.Scalar | None:
    """Return a bound of a range, or the next number towards `towards` if the bound is a floating-point zero. Bounds do
    not distinguish 0.0 from -0.0, but membership in a list, division and text do.
    """
    if bound is None or not pa.types.is_floating(bound.type) or bound.as_py() != 0:
        return bound
    zero = bound.type.to_pandas_dtype()(0)
    return pa.scalar(np.nextafter(zero, zero.dtype.type(towards)), bound.type)


def text_of(expression: pc.Expression) -> str:
    """Return an expression as text for an error message."""
    try:
        return str(expression)
    except UnicodeDecodeError:  # pyarrow shortens long values between the bytes of a character
        return "the given expression"

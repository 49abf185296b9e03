"""Reads parts of a Parquet file: the footer first, then the requested columns of the requested row groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import Damaged
from ..limits import Limits
from ..parquet import decode_parquet
from ..storage import ByteRange, RangedStorage, Storage, merged_ranges
from .fetch import REMEDY, decoding, fetch
from .tasks import BaseInput

TAIL_BYTES: Final = 64 << 10
"""The bytes at the end of a file that are read first; most footers fit into them."""

WHOLE_BYTES: Final = 256 << 10
"""A smaller file is read whole, because a second request costs more than its bytes."""

_GAP: Final = 4 << 10  # bytes between two ranges that are read along with them
_END: Final = 8  # the length of the footer, and the magic


class RangedFile:
    """A base file that is read in parts. If the size is unknown, or if the storage cannot read ranges, the file is read
    completely.

    Raises `NotFound` if the file is absent, and `Damaged` if it does not have the size that its commit lists.
    """

    def __init__(self, storage: Storage, file: BaseInput, bounds: Limits) -> None:
        self._file = file
        self._bounds = bounds
        size = file.size or 0
        self._ranged = storage if isinstance(storage, RangedStorage) and size > WHOLE_BYTES else None
        self._bytes = self._tail(self._ranged, size) if self._ranged else pa.py_buffer(fetch(storage, file))

    @cached_property
    def metadata(self) -> pq.FileMetaData:
        with decoding(self._file.path):
            return pq.read_metadata(pa.BufferReader(self._bytes))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the file, with their types in the file."""
        return self.metadata.schema.to_arrow_schema()

    def read(self, columns: Sequence[str] | None, groups: Sequence[int] | None = None) -> pa.Table:
        """Return the rows of the row groups (None: all), with the requested columns (None: all)."""
        if self._ranged is not None:
            self._fill(self._ranged, merged_ranges(list(self._chunks(columns, groups)), _GAP))
        name = self._file.path
        with decoding(name):
            return decode_parquet(self._bytes, name, columns, packed=True, bounds=self._bounds, row_groups=groups)

    def _tail(self, storage: RangedStorage, size: int) -> pa.Buffer:
        """Read the footer into a buffer of the size of the file. Pages of the buffer that are not filled use no memory.
        """
        self._content = np.zeros(size, np.uint8)
        last = storage.get_ranges(self._file.path, [ByteRange(size - TAIL_BYTES, size + 1)])[0]
        if len(last) != TAIL_BYTES:  # one byte more was requested, to detect a longer file
            self._refuse_size()
        self._content[size - TAIL_BYTES :] = np.frombuffer(last, np.uint8)
        footer = int.from_bytes(last[-_END:][:4], "little") + _END
        if TAIL_BYTES < footer < size:
            self._fill(storage, [ByteRange(size - footer, size - TAIL_BYTES)])
        return pa.py_buffer(self._content)

    def _fill(self, storage: RangedStorage, ranges: Sequence[ByteRange]) -> None:
        if not ranges:
            return
        parts = storage.get_ranges(self._file.path, ranges)
        for (start, end), part in zip(ranges, parts, strict=True):
            if len(part) != end - start:
                self._refuse_size()
            self._content[start:end] = np.frombuffer(part, np.uint8)

    def _refuse_size(self) -> None:
        exists = f"it does not have the {self._file.size} bytes that its commit lists"
        raise Damaged(f"read {self._file.path}", exists, REMEDY)

    def _chunks(self, columns: Iterable[str] | None, groups: Iterable[int] | None) -> Iterator[ByteRange]:
        """Return the byte ranges of the requested column chunks. A chunk begins with its dictionary, if it has one."""
        wanted = None if columns is None else set(columns)
        size = len(self._content)
        for number in range(self.metadata.num_row_groups) if groups is None else groups:
            group = self.metadata.row_group(number)
            for place in range(group.num_columns):
                chunk = group.column(place)
                if wanted is not None and chunk.path_in_schema.partition(".")[0] not in wanted:
                    continue
                start = chunk.data_page_offset
                if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
                    start = chunk.dictionary_page_offset
                if not 0 <= start <= start + chunk.total_compressed_size <= size:
                    raise Damaged(f"read {self._file.path}", "its footer names bytes beyond its end", REMEDY)
                yield ByteRange(start, start + chunk.total_compressed_size)

"""Reads parts of a Parquet file: first the footer, then the requested columns of the requested row groups."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from ..checksums import chunks_of, verified_footer, verify_chunks
from ..errors import Damaged
from ..limits import Limits
from ..parquet import decode_parquet, parquet_batches
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
    """A base file that is read in byte ranges. If the file size is unknown, or if the storage cannot read byte ranges,
    the file is read completely.

    Raises `NotFound` if the file does not exist, and `Damaged` if the file size differs from the size in the commit.
    """

    def __init__(self, storage: Storage, file: BaseInput, bounds: Limits) -> None:
        self._file = file
        self._bounds = bounds
        self._size = file.size or 0
        self._ranged = storage if isinstance(storage, RangedStorage) and self._size > WHOLE_BYTES else None
        self._last = self._tail(self._ranged) if self._ranged else fetch(storage, file)
        self._size = self._size if self._ranged else len(self._last)

    @cached_property
    def metadata(self) -> pq.FileMetaData:
        with decoding(self._file.path):
            _ = self._checksums  # verified before the Parquet library parses it
            return pq.read_metadata(pa.BufferReader(self._last))

    @cached_property
    def _checksums(self) -> list[int] | None:
        """The checksums of the column chunks; None if the file has none."""
        return verified_footer(self._last, self._size)

    @cached_property
    def schema(self) -> pa.Schema:
        return self.metadata.schema.to_arrow_schema()

    def read(self, columns: Sequence[str] | None, groups: Sequence[int] | None = None) -> pa.Table:
        """Return the rows of the row groups `groups` with the columns `columns`; None means all."""
        if self._ranged is not None:
            self._fill(self._ranged, merged_ranges(list(self._chunks(columns, groups)), _GAP), self._content)
        name = self._file.path
        with decoding(name):
            data = pa.py_buffer(self._content) if self._ranged else self._last
            return decode_parquet(data, name, columns, packed=True, bounds=self._bounds, row_groups=groups)

    def batches(self, columns: Sequence[str] | None, groups: Sequence[int] | None = None) -> Iterator[pa.Table]:
        """Yield the rows that `read` would return, in batches. Only the requested columns of a single row group are in
        memory at a time.
        """
        for number in range(self.metadata.num_row_groups) if groups is None else groups:
            with decoding(self._file.path):
                opener = partial(self._reopen, self._piece(columns, number))
                bounds = self._bounds
                yield from parquet_batches(opener, self._file.path, self._size, columns, bounds, [number])

    def _reopen(self, piece: _Piece, few: Sequence[str]) -> pq.ParquetFile:
        return pq.ParquetFile(piece.opened(), metadata=self.metadata, read_dictionary=few or None)

    def _piece(self, columns: Sequence[str] | None, group: int) -> _Piece:
        if self._ranged is None:
            return self._verified(_Piece(self._last, 0, self._size), columns, group)
        ranges = merged_ranges(list(self._chunks(columns, [group])), _GAP)
        start, end = (ranges[0].start, ranges[-1].end) if ranges else (0, 0)
        content = np.zeros(end - start, np.uint8)
        self._fill(self._ranged, ranges, content, start)
        return self._verified(_Piece(pa.py_buffer(content), start, self._size), columns, group)

    def _verified(self, piece: _Piece, columns: Sequence[str] | None, group: int) -> _Piece:
        if self._checksums is not None:
            verify_chunks(piece.known, piece.start, chunks_of(self.metadata, columns, [group]), self._checksums)
        return piece

    @cached_property
    def _content(self) -> npt.NDArray[np.uint8]:
        """A buffer with the file's size, filled with zeros except for the footer."""
        content = np.zeros(self._size, np.uint8)
        content[self._size - len(self._last) :] = np.frombuffer(self._last, np.uint8)
        return content

    def _tail(self, storage: RangedStorage) -> bytes:
        size = self._size
        last = storage.get_ranges(self._file.path, [ByteRange(size - TAIL_BYTES, size + 1)])[0]
        if len(last) != TAIL_BYTES:  # one byte more was requested, to detect a longer file
            self._refuse_size()
        footer = int.from_bytes(last[-_END:][:4], "little") + _END
        if TAIL_BYTES < footer < size:
            rest = ByteRange(size - footer, size - TAIL_BYTES)
            first = storage.get_ranges(self._file.path, [rest])[0]
            if len(first) != len(rest):
                self._refuse_size()
            return first + last
        return last

    def _fill(
        self, storage: RangedStorage, ranges: Sequence[ByteRange], content: npt.NDArray[np.uint8], first: int = 0
    ) -> None:
        if not ranges:
            return
        parts = storage.get_ranges(self._file.path, ranges)
        for (start, end), part in zip(ranges, parts, strict=True):
            if len(part) != end - start:
                self._refuse_size()
            content[start - first : end - first] = np.frombuffer(part, np.uint8)

    def _refuse_size(self) -> None:
        exists = f"it does not have the {self._file.size} bytes that its commit lists"
        raise Damaged(f"read {self._file.path}", exists, REMEDY)

    def _chunks(self, columns: Iterable[str] | None, groups: Iterable[int] | None) -> Iterator[ByteRange]:
        """Yield the byte ranges of the requested column chunks."""
        for chunk in chunks_of(self.metadata, columns, groups):
            if not 0 <= chunk.start <= chunk.end <= self._size:
                raise Damaged(f"read {self._file.path}", "its footer names bytes beyond its end", REMEDY)
            yield ByteRange(chunk.start, chunk.end)


class _Piece(io.RawIOBase):
    """A file object of `size` bytes that contains the bytes `known` at the offset `start`. All bytes outside `known`
    are zeros.
    """

    def __init__(self, known: bytes | pa.Buffer, start: int, size: int) -> None:
        super().__init__()
        self.known = known
        self.start = start
        self._size = size
        self._position = 0

    def opened(self) -> pa.PythonFile:
        return pa.PythonFile(self, mode="r")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = begin + offset
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        end = self._size if size is None or size < 0 else min(self._size, self._position + size)
        first, self._position = self._position, max(end, self._position)
        if first >= self.start and end - self.start <= len(self.known):
            return bytes(self.known[first - self.start : end - self.start])
        known = bytes(self.known[max(0, first - self.start) : max(0, end - self.start)])
        return (bytes(max(0, min(end, self.start) - first)) + known).ljust(end - first, b"\0")

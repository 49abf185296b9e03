"""Checksums in the Parquet files that nbcc writes: base files, archive files and state checkpoints.

A flipped bit in a footer can end the process inside the Parquet library, and a flipped bit in a page can change rows.
The footer's key-value metadata therefore contains the CRC-32 of the footer and of each column chunk. A reader verifies
the footer before it is parsed, and each column chunk before it is decoded. The checksum of the footer is computed with
zeros in its own place. Two keys have the same value: if a flipped bit hides one key, the other still shows that the
file has checksums. Readers of Hudi ignore the keys. Files without them are read without verification. So are files of
another size than the one recorded with the checksums, because a tool may copy the keys of one file into another.

Readers of Hudi fail on unknown headers and footers of log blocks, so the CRC-32 of a log is in the commit of its write.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

KEYS: Final = (b"nbcc.crc32", b"nbcc.crc32.copy")

_DIGITS: Final = 8  # hexadecimal digits of a CRC-32
_HEAD: Final = _DIGITS + 16  # the checksum of the footer, and the size of the file
_END: Final = 8  # the length of the footer, and the magic
_TEXT: Final = b"\x18"  # the next field of a record is a text, in Thrift's compact protocol


def checksum_of(data: bytes) -> str:
    """Return the checksum of a file's content, as recorded in a commit."""
    return f"{zlib.crc32(data):08x}"


class Mismatch(ValueError):
    """Raised if the bytes of a file differ from its checksums."""


class Chunk(NamedTuple):
    """The bytes of one column chunk in a file, with the number of its row group and its place in the checksums."""

    group: int
    column: str
    start: int
    end: int
    place: int


def reserved(schema: pa.Schema, groups: int) -> dict[bytes, bytes]:
    """Return the key-value metadata for the checksums of a file with `groups` row groups. `seal` fills it in."""
    chunks = groups * sum(_leaves(field.type) for field in schema)
    return dict.fromkeys(KEYS, b"0" * (_HEAD + _DIGITS * chunks))


def _leaves(kind: pa.DataType) -> int:
    if pa.types.is_dictionary(kind):
        return 1
    return sum(_leaves(kind.field(place).type) for place in range(kind.num_fields)) if kind.num_fields else 1


def write_sealed(rows: pa.Table, metadata: dict[bytes, bytes] | None = None, **options: Any) -> bytes:
    """Return the bytes of a Parquet file with one row group, with checksums. `options` are those of `ParquetWriter`."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, rows.schema, **options) as writer:
        writer.write_table(rows, max(1, len(rows)))
        writer.add_key_value_metadata({**(metadata or {}), **reserved(rows.schema, 1)})
    return sealed(sink.getvalue())


def sealed(data: pa.Buffer) -> bytes:
    """Return the bytes of a Parquet file with its checksums filled in."""
    view = memoryview(data)
    start, footer = _filled(view, len(view), lambda chunk: zlib.crc32(view[chunk.start : chunk.end]))
    return b"".join((view[:start], footer, view[len(view) - _END :]))


def seal(file: BinaryIO) -> None:
    """Fill in the checksums of a Parquet file that was just written to `file`."""
    size = file.seek(0, io.SEEK_END)
    file.seek(size - _END)
    length = int.from_bytes(file.read(_END)[:4], "little")
    file.seek(size - _END - length)
    tail = file.read()

    def checksum(chunk: Chunk) -> int:
        file.seek(chunk.start)
        return zlib.crc32(file.read(chunk.end - chunk.start))

    start, footer = _filled(memoryview(tail), size, checksum)
    file.seek(size - len(tail) + start)
    file.write(footer)
    file.seek(size)


def _filled(tail: memoryview, size: int, checksum: Callable[[Chunk], int]) -> tuple[int, bytes]:
    """Return the place of the footer in the last bytes of a file of `size` bytes, and the footer with checksums."""
    start = _footer_start(tail) or 0
    footer = bytearray(tail[start : len(tail) - _END])
    chunks = chunks_of(pq.read_metadata(pa.BufferReader(pa.py_buffer(tail))))
    text = "".join([f"{size:016x}", *(f"{checksum(chunk):08x}" for chunk in chunks)]).encode()
    values = _values(footer)
    for place, length in values:
        assert length == _DIGITS + len(text), "the file has another number of column chunks than was reserved"
        footer[place + _DIGITS : place + length] = text
    of_footer = f"{zlib.crc32(footer):08x}".encode()
    for place, _ in values:
        footer[place : place + _DIGITS] = of_footer
    return start, bytes(footer)


def verified_footer(tail: bytes | memoryview | pa.Buffer, size: int) -> list[int] | None:
    """Verify the footer at the end of `tail`, and return the checksums of the column chunks; None if the file, which
    has `size` bytes, has no checksums. Raises `Mismatch` if the footer differs from its checksum.
    """
    view = memoryview(tail)
    start = _footer_start(view)
    if start is None:
        return None
    footer = bytearray(view[start : len(view) - _END])
    values = _values(footer)
    if not values:
        return None
    expected = {bytes(footer[place : place + length]) for place, length in values}
    for place, _ in values:
        footer[place : place + _DIGITS] = b"0" * _DIGITS
    text = next(iter(expected))
    if len(values) == len(KEYS) and len(expected) == 1 and text[_DIGITS:_HEAD] != f"{size:016x}".encode():
        return None
    if len(values) < len(KEYS) or len(expected) > 1 or f"{zlib.crc32(footer):08x}".encode() != text[:_DIGITS]:
        raise Mismatch("its footer differs from its checksum")
    return [int(text[place : place + _DIGITS], 16) for place in range(_HEAD, len(text), _DIGITS)]


def verify_chunks(
    content: bytes | memoryview | pa.Buffer, first: int, chunks: Iterable[Chunk], checksums: Sequence[int]
) -> None:
    """Raise `Mismatch` if one of the column chunks differs from its checksum. `content` contains the bytes of the file
    from the offset `first` on.
    """
    view = memoryview(content)
    for chunk in chunks:
        if zlib.crc32(view[chunk.start - first : chunk.end - first]) != checksums[chunk.place]:
            raise Mismatch(f"the column {chunk.column} of its row group {chunk.group} differs from its checksum")


def chunks_of(
    metadata: pq.FileMetaData, columns: Iterable[str] | None = None, groups: Iterable[int] | None = None
) -> Iterator[Chunk]:
    """Yield the column chunks of the given columns and row groups (None: all), with their dictionary pages."""
    wanted = None if columns is None else set(columns)
    for number in range(metadata.num_row_groups) if groups is None else groups:
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            column = chunk.path_in_schema.partition(".")[0]
            if wanted is not None and column not in wanted:
                continue
            start = chunk.data_page_offset
            if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
                start = chunk.dictionary_page_offset
            yield Chunk(number, column, start, start + chunk.total_compressed_size, number * group.num_columns + place)


def _footer_start(tail: memoryview) -> int | None:
    start = len(tail) - _END - int.from_bytes(tail[len(tail) - _END :][:4], "little")
    return start if len(tail) >= _END and start >= 0 else None


def _values(footer: bytes | bytearray) -> list[tuple[int, int]]:
    """Return the places and sizes of the values of `KEYS` in a footer."""
    found = []
    for key in KEYS:
        named = _TEXT + bytes([len(key)]) + key + _TEXT
        place = footer.rfind(named)
        if place >= 0:
            place, size = _length(footer, place + len(named))
            if _HEAD <= size <= len(footer) - place:
                found.append((place, size))
    return found


def _length(footer: bytes | bytearray, place: int) -> tuple[int, int]:
    """Return the place after a variable-length number, and the number."""
    size = 0
    for shift in range(0, 35, 7):
        byte = footer[place] if place < len(footer) else 0
        place += 1
        size |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return place, size

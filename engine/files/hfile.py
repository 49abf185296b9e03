"""Decodes HFiles, the file format of Hudi's metadata table, which stores key-value pairs sorted by key.

The format is version 3 of HBase's HFile (docs/hudi-format.md). The decoder reads all data blocks in order, without
using the index.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from ..errors import Damaged, Unsupported
from ..limits import exceeded, limits

_TRAILER: Final = 4096  # bytes at the end of the file
_TRAILER_MAGIC: Final = b'TRABLK"$'
_VERSION: Final = 3
_DATA_MAGIC: Final = b"DATABLK*"
_INFO_MAGIC: Final = b"FILEINF2"
_PROTOBUF: Final = b"PBUF"

_BLOCK: Final = struct.Struct(">8siiqbii")
"""Magic, sizes without this header (in the file, unpacked), previous block, checksum type, bytes per checksum, size in
the file with this header and without checksums."""

_LENGTHS: Final = struct.Struct(">ii")
_SHORT: Final = struct.Struct(">h")
_AFTER_VALUE: Final = 1  # the byte of an HBase version number, which Hudi writes as 0

# Numbers of the fields in the trailer.
_INFO_OFFSET, _ENTRIES, _FIRST_DATA, _LAST_DATA, _CODEC = 1, 7, 9, 10, 12
_GZIP, _PLAIN = 1, 2
_GZIP_WINDOW: Final = zlib.MAX_WBITS | 16
_LONGEST_NUMBER: Final = 10


class HFile(NamedTuple):
    """The key-value pairs of an HFile. `schema` is the Avro schema (JSON) of the values, or b"" if the file does not
    record the schema.
    """

    schema: bytes
    pairs: tuple[tuple[str, bytes], ...]


def decode_hfile(data: bytes | memoryview, name: str) -> HFile:
    """Decode an HFile. Raises `Damaged` for data that is not a valid HFile, and `Unsupported` for a compression other
    than gzip.
    """
    try:
        return _decoded(memoryview(data), name)
    except (ValueError, IndexError, struct.error, zlib.error) as broken:
        raise Damaged(
            f"read {name}", f"it is not a whole HFile ({broken})", "read the table without its metadata table"
        ) from None


def _decoded(data: memoryview, name: str) -> HFile:
    trailer = _trailer(data)
    codec = _number(trailer, _CODEC)
    if codec not in (_GZIP, _PLAIN):
        raise Unsupported(
            f"read {name}", f"it has the compression {codec}, and nbcc reads gzip", "read the table without it"
        )
    blocks, pairs = _Blocks(data, codec, name), list[tuple[str, bytes]]()
    # A file without entries has no data blocks, and the offsets in its trailer mean nothing.
    if _number(trailer, _ENTRIES):
        for content in blocks.with_data(_number(trailer, _FIRST_DATA), _number(trailer, _LAST_DATA)):
            pairs += _pairs(content)
    if len(pairs) != _number(trailer, _ENTRIES):
        raise ValueError(f"it has {len(pairs)} pairs instead of {_number(trailer, _ENTRIES)}")
    magic, info, _ = blocks.at(_number(trailer, _INFO_OFFSET))
    if magic != _INFO_MAGIC:
        raise ValueError("it has no block of file information")
    return HFile(_information(info).get(b"schema", b""), tuple(pairs))


def _trailer(data: memoryview) -> dict[int, int | bytes]:
    trailer = data[-_TRAILER:]
    if len(trailer) < _TRAILER or bytes(trailer[:8]) != _TRAILER_MAGIC:
        raise ValueError("it has no trailer")
    if trailer[-1] != _VERSION:
        raise ValueError(f"its version is {trailer[-1]}")
    size, start = _varint(trailer, len(_TRAILER_MAGIC))
    return dict(_fields(trailer[start : start + size]))


class _Blocks:
    """Reads the blocks of an HFile. Raises `LimitExceeded` if the decompressed blocks exceed the memory limit."""

    def __init__(self, data: memoryview, codec: int, name: str) -> None:
        self._data = data
        self._codec = codec
        self._name = name
        self._left = limits().decoded(len(data))

    def with_data(self, first: int, last: int) -> Iterator[bytes]:
        """Yield the contents of the data blocks between the file offsets `first` and `last`."""
        at = first
        while at <= last:
            magic, content, at = self.at(at)
            if magic == _DATA_MAGIC:
                yield content

    def at(self, start: int) -> tuple[bytes, bytes, int]:
        """Return the magic bytes and the content of the block at the offset `start`, and the offset after the block."""
        magic, size, unpacked, _, _, _, end = _BLOCK.unpack_from(self._data, start)
        after = start + _BLOCK.size + size
        if size < 0 or unpacked < 0 or not _BLOCK.size <= end <= size + _BLOCK.size or after > len(self._data):
            raise ValueError("a block in it has an impossible size")
        # Before anything is unpacked: a small file may claim to unpack to any size.
        self._left -= unpacked
        if self._left < 0:
            most = limits().decoded(len(self._data))
            raise exceeded(self._name, f"its blocks have more than {most} bytes", "decoded_bytes")
        content = bytes(self._data[start + _BLOCK.size : start + end])
        if self._codec == _GZIP:
            # One byte more than the block claims is enough to find its end, and no claim can exhaust the memory.
            content = zlib.decompressobj(_GZIP_WINDOW).decompress(content, unpacked + 1)
        if len(content) < unpacked:
            raise ValueError("a block in it is cut short")
        return magic, content[:unpacked], after


def _pairs(block: bytes) -> Iterator[tuple[str, bytes]]:
    at = 0
    while at < len(block):
        key_size, value_size = _LENGTHS.unpack_from(block, at)
        key, value = at + _LENGTHS.size, at + _LENGTHS.size + key_size
        at = value + value_size + _AFTER_VALUE
        row = _SHORT.unpack_from(block, key)[0]
        if not 0 <= row <= key_size - _SHORT.size or value_size < 0 or at > len(block):
            raise ValueError("a pair in it has an impossible size")
        yield block[key + _SHORT.size : key + _SHORT.size + row].decode(), block[value : value + value_size]


def _information(block: bytes) -> dict[bytes, bytes]:
    """Decode the file information block, a protobuf message with repeated key-value pairs."""
    if not block.startswith(_PROTOBUF):
        raise ValueError("its file information has another form")
    view = memoryview(block)
    size, start = _varint(view, len(_PROTOBUF))
    found = {}
    for _, pair in _fields(view[start : start + size]):
        if isinstance(pair, bytes):
            parts = dict(_fields(memoryview(pair)))
            found[bytes(parts.get(1, b""))] = bytes(parts.get(2, b""))
    return found


def _fields(message: memoryview) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and value of each field of a protobuf message with integer and bytes fields."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        value, at = _varint(message, at)
        if key & 7 == 0:
            yield key >> 3, value
        elif key & 7 == 2 and at + value <= len(message):
            yield key >> 3, bytes(message[at : at + value])
            at += value
        else:
            raise ValueError("a field in it has an impossible type or size")


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    """Decode the varint at the offset `at`. Returns the decoded value, and the offset of the byte after the varint."""
    value = 0
    for place in range(_LONGEST_NUMBER):
        byte = data[at + place]
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError(f"a number in it has more than {_LONGEST_NUMBER} bytes")


def _number(trailer: dict[int, int | bytes], field: int) -> int:
    value = trailer.get(field, 0)
    if isinstance(value, bytes):
        raise ValueError(f"the field {field} of its trailer is not a number")
    return value

"""Reads and writes Avro object containers with one record, the format of every non-empty timeline file
(docs/hudi-format.md).
"""

from __future__ import annotations

import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any, Final, cast

import fastavro

from ..errors import Damaged, LimitExceeded
from ..limits import Limits, exceeded, limits
from ..schema.avro_check import checked_schema
from . import schemas

_SCHEMAS: Final = {
    "commit": schemas.COMMIT,
    "replacecommit": schemas.REPLACE_COMMIT,
    "compaction": schemas.COMPACTION_PLAN,
    "requested replace": schemas.REQUESTED_REPLACE,
    "rollback plan": schemas.ROLLBACK_PLAN,
    "rollback": schemas.ROLLBACK,
    "clean_plan": schemas.CLEAN_PLAN,
    "clean": schemas.CLEAN,
    "savepoint": schemas.SAVEPOINT,
    "restore_plan": schemas.RESTORE_PLAN,
    "restore": schemas.RESTORE,
}

DIGEST: Final = "nbcc.sync"
"""The key of a container's header whose value `MD5` says that the sync marker is a digest of schema and record."""
MD5: Final = "md5"

_MAGIC: Final = b"Obj\x01"
_CODECS: Final = (b"null", b"deflate")

_MARKER: Final = 16  # bytes of the sync marker after the header and each block
_MOST_PAIRS: Final = 1000
LONGEST_NUMBER: Final = 10
"""Bytes of a 64-bit number at seven bits a byte."""


@cache
def _parsed(kind: str) -> Any:
    return fastavro.parse_schema(_SCHEMAS[kind])


def encode_record(kind: str, record: dict[str, Any]) -> bytes:
    """Encode one record as an Avro container; `kind` is the name of the record's schema in `_SCHEMAS`.

    Avro's own writer uses a random sync marker. Here it is a digest of the schema and the record, which a reader
    verifies, so equal records have equal encodings. Readers of Hudi ignore the key `DIGEST` of the header.
    """
    content = io.BytesIO()
    fastavro.schemaless_writer(content, _parsed(kind), record)
    start, schema = _start_of(kind)
    block, marker = content.getvalue(), _digest(schema, content.getvalue())
    return b"".join((start, marker, _encoded(1), _encoded(len(block)), block, marker))


@cache
def _start_of(kind: str) -> tuple[bytes, bytes]:
    """Return the header of a container without its sync marker, and the schema in it."""
    container = io.BytesIO()
    metadata = {DIGEST: MD5}
    fastavro.writer(container, _parsed(kind), [], codec="null", sync_marker=bytes(_MARKER), metadata=metadata)
    header = container.getvalue()
    return header[:-_MARKER], _header(io.BytesIO(header[len(_MAGIC) :]))["avro.schema"]


def _digest(schema: bytes, block: bytes) -> bytes:
    return hashlib.md5(schema + block, usedforsecurity=False).digest()


def _encoded(number: int) -> bytes:
    """Return a small number in Avro's variable-length zigzag encoding."""
    number, digits = number << 1, bytearray()
    while number >= 0x80:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*digits, number))


def decode_record(data: bytes, name: str) -> dict[str, Any]:
    """Return the single record of an Avro container, decoded with the embedded schema. `name` is the name of the file
    in error messages.

    The decoder is stricter than Avro: the container must have exactly one record, and the record must fill its block.
    """
    try:
        return _only_record(data, name)
    except LimitExceeded:
        # A limit is the user's setting and not damage, so it keeps its own message and remedy.
        raise
    except Exception as broken:  # the Avro reader raises arbitrary errors for invalid bytes
        raise Damaged(
            f"read the timeline file {name}",
            f"its {len(data)} bytes are not an Avro container with one record ({broken or type(broken).__name__})",
            "restore the file, or roll the instant back with the tool that wrote it",
        ) from None


@contextmanager
def understood(name: str) -> Iterator[None]:
    """Raise `Damaged` if the record decoded in the `with` block has a missing, null or wrongly typed field."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as broken:
        what = " ".join(f"{type(broken).__name__}: {broken}".split())[:200]
        raise Damaged(
            f"read the timeline file {name}",
            f"its record is not of the kind that the file's name says ({what})",
            "restore the file, or roll the instant back with the tool that wrote it",
        ) from None


def is_whole(data: bytes) -> bool:
    """Return whether the bytes are a complete Avro container with one record, neither empty nor truncated.

    The record inside the container is not decoded, so it may still be invalid.
    """
    try:
        _framed(data)  # a flipped bit tears nothing, so the digest is not verified
    except (ValueError, IndexError):  # IndexError: the bytes end inside a number
        return False
    return True


def block_of(data: bytes, name: str = "a timeline file") -> tuple[dict[str, bytes], bytes]:
    """Return the header and the decompressed record bytes of an Avro container with exactly one record; raises
    `ValueError` for other data.
    """
    meta, block, marker = _framed(data)
    # Files of Hudi have a random marker and no key, so only those of nbcc can be verified.
    if meta.get(DIGEST) == MD5.encode() and marker != _digest(meta["avro.schema"], block):
        raise ValueError("its schema and its record differ from their checksum")
    codec = meta.get("avro.codec", b"null")
    if codec not in _CODECS:
        raise ValueError(f"its codec is {codec!r}, and Hudi writes null or deflate")
    return meta, _unpacked(block, codec, name)


def _framed(data: bytes) -> tuple[dict[str, bytes], bytes, bytes]:
    """Return the header of an Avro container, the possibly compressed bytes of its record, and the sync marker."""
    source = io.BytesIO(data)
    if source.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("it does not begin like one")
    meta = _header(source)
    marker = source.read(_MARKER)
    count, size = _long(source), _long(source)
    block = source.read(size)
    if count != 1 or size < 0 or len(block) != size or source.read() != marker or len(marker) != _MARKER:
        raise ValueError("it is cut short, or holds something else than one record")
    return meta, block, marker


def _unpacked(block: bytes, codec: bytes, name: str) -> bytes:
    most = limits().metadata_bytes
    if codec == b"deflate":
        packed = zlib.decompressobj(-zlib.MAX_WBITS)
        # One byte more than allowed, so that a record of exactly the limit passes and no larger one is unpacked.
        block = packed.decompress(block, most + 1)
        if len(block) <= most and not packed.eof:
            raise ValueError("its packed record is cut short")
    if len(block) > most:
        raise exceeded(f"the timeline file {name}", f"its record has more than {most} bytes", "metadata_bytes")
    return block


def _only_record(data: bytes, name: str) -> dict[str, Any]:
    meta, block = block_of(data, name)
    content = io.BytesIO(block)
    record = fastavro.schemaless_reader(content, embedded(meta["avro.schema"], limits()), None)
    # Bytes after the record mean that the schema does not belong to it, although each field could be decoded.
    if content.read(1):
        raise ValueError("its record ends before its block does")
    return cast(dict[str, Any], record)


def _header(source: io.BytesIO) -> dict[str, bytes]:
    """Return the metadata of an Avro container: a map, encoded in blocks that start with a count. A block with a
    negative count stores its size in bytes after the count.
    """
    entries: dict[str, bytes] = {}
    while count := _long(source):
        if count < 0:
            _long(source)
        # The count comes from the file. Without a bound, damaged bytes could keep the loop busy for hours.
        if abs(count) > _MOST_PAIRS or len(entries) > _MOST_PAIRS:
            raise ValueError(f"its header has more than {_MOST_PAIRS} entries")
        for _ in range(abs(count)):
            key = source.read(_length(source)).decode()
            entries[key] = source.read(_length(source))
    return entries


def _length(source: io.BytesIO) -> int:
    length = _long(source)
    if length < 0:
        raise ValueError("a length in it is negative")
    return length


def _long(source: io.BytesIO) -> int:
    """Read an integer in Avro's variable-length zigzag encoding."""
    value = 0
    # Python's integers have no width, so an endless run of continuation bytes must be cut here.
    for shift in range(0, 7 * LONGEST_NUMBER, 7):
        byte = source.read(1)[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1)
    raise ValueError(f"a number in it has more than {LONGEST_NUMBER} bytes")


@lru_cache(maxsize=64)
def embedded(schema: bytes, bounds: Limits) -> Any:
    """Return the parsed Avro schema from the header of a container. Parsed schemas are cached, because parsing a schema
    takes longer than reading a record, and a table uses few schemas.
    """
    return fastavro.parse_schema(checked_schema(schema, "a timeline file", bounds))

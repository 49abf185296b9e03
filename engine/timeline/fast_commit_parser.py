"""A fast parser of commits: one regular expression reads the required fields of each file listed in a commit.

A commit contains a record of about thirty fields for each data file, nearly all of them nullable numbers and strings. A
regular expression can match the Avro encoding of nullable numbers and strings, but cannot check the length stored
before each string. The regular expression matches printable strings of any length, and the parser then compares each
string's length with its stored length. If a string's length differs from its stored length, the parser raises `Odd`,
and the caller uses the complete decoder, `decode_record`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import length_hint
from typing import Any, Final

import fastavro

from ..json_text import parse_json
from ..limits import Limits, limits
from .container import LONGEST_NUMBER, block_of, embedded

_STATS: Final = "partitionToWriteStats"
_TEXTS: Final = ("path", "fileId", "prevCommit", "prevBaseFile", "logFiles")
_NUMBERS: Final = (
    "fileSizeInBytes", "numWrites", "numDeletes", "numInserts", "numUpdateWrites", "logVersion",
    "totalLogRecords", "totalLogBlocks", "totalLogFilesCompacted", "totalLogSizeCompacted",
)  # fmt: skip
FIELDS: Final = (*_TEXTS, *_NUMBERS)
"""The fields of a listed file that nbcc uses, in the order in which `skim_commit` returns their values."""

_NUMBER: Final = rb"[\x80-\xff]{0,8}+[\x00-\x7f]"  # seven bits a byte; a set eighth bit: more bytes follow
_PRINTED: Final = rb"[ -~]*+"
_PLAIN: Final = {"boolean": rb"[\x00\x01]", "double": rb"[\x00-\xff]{8}", "int": _NUMBER, "long": _NUMBER}
_NEVER: Final = rb"(?!)"


class Odd(ValueError):
    """Raised if the bytes of a commit have a form that the fast parser does not support. A commit for which the fast
    parser raises `Odd` may still be valid.
    """


def skim_commit(data: bytes) -> dict[str, Any]:
    """Return the record of a commit in the form that `decode_record` returns, but with the values of `FIELDS` in the
    place of each listed file. `logFiles` is a tuple or None.

    Raises an exception for any input that the fast parser cannot read, including any input that `decode_record`
    rejects.
    """
    meta, block = block_of(data)
    listed, rest = _fields(meta["avro.schema"], limits())
    if listed is None:
        raise Odd("a schema of its own")
    cursor = _Cursor(block)
    stats = {cursor.text(): [listed.read(cursor) for _ in cursor.items()] for _ in cursor.nullable()}
    content = io.BytesIO(block)
    content.seek(cursor.at)
    record: Any = fastavro.schemaless_reader(content, rest, None)
    if content.read(1):
        raise Odd("its record ends before its block does")
    return {_STATS: stats, **record}


@lru_cache(maxsize=64)
def _fields(schema: bytes, bounds: Limits) -> tuple[_Listed | None, Any]:
    """Return the regular expression for the record of one data file in a commit, and the schema of the commit's other
    fields. The results are cached for each commit schema.
    """
    embedded(schema, bounds)  # validates the schema, even if the record does not use it
    commit = parse_json(schema)
    stats, *others = commit["fields"]
    try:
        null, partitions = stats["type"]
        if (stats["name"], null, partitions["type"], partitions["values"]["type"]) != (_STATS, "null", "map", "array"):
            return None, None
        return _Listed(partitions["values"]["items"]), fastavro.parse_schema({**commit, "fields": others})
    except (KeyError, TypeError, ValueError, fastavro.schema.UnknownType):  # later fields may use its types
        return None, None


class _Cursor:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def number(self) -> int:
        value = 0
        for shift in range(0, 7 * LONGEST_NUMBER, 7):
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
        raise Odd("a number without end")

    def text(self) -> str:
        length = self.number()
        # Python would accept a negative slice and return other bytes without an error.
        if length < 0:
            raise Odd("a negative length")
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def nullable(self) -> Iterator[None]:
        """Iterate over a nullable Avro map; the loop body reads each item from the cursor."""
        if branch := self.number():
            if branch != 1:
                raise Odd("neither null nor a map")
            yield from self.items()

    def items(self) -> Iterator[None]:
        """Iterate over an Avro map or array; the loop body reads each item from the cursor."""
        while count := self.number():
            # Avro permits this form for blocks that a reader may skip. No known writer of commits uses it.
            if count < 0:
                raise Odd("blocks with their size in front")
            for _ in range(count):
                yield


class _Listed:
    """The regular expression for one file's record in a commit. `_lengths` and `_texts` contain the numbers of the
    regex groups that match lengths and texts.
    """

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._groups = 0
        self._lengths: list[int] = []
        self._texts: list[int] = []
        self._found: dict[str, int] = {}
        fields = [self._pattern(field["type"], field["name"]) for field in record["fields"]]
        self._match = re.compile(b"".join(fields)).match
        self._wanted = [self._found[name] for name in FIELDS]

    def read(self, cursor: _Cursor) -> tuple[Any, ...]:
        match = self._match(cursor.data, cursor.at)
        if match is None or _lengths(match.group(*self._lengths)) != (*map(length_hint, match.group(*self._texts)),):
            raise Odd("a file record of another form")
        cursor.at = match.end()
        path, file_id, before, base, logs, *numbers = match.group(*self._wanted)
        if path is None or file_id is None:
            raise Odd("a file without a name")
        listed = None if logs is None else (logs.decode(),)
        return path.decode(), _text(file_id), _text(before), _text(base), listed, *map(_number, numbers)

    def _pattern(self, kind: Any, name: str = "") -> bytes:
        """Return the regular expression for one Avro field."""
        if isinstance(kind, list):
            nullable = len(kind) == 2 and kind[0] == "null"
            return rb"(?:\x00|\x02%s)" % self._pattern(kind[1], name) if nullable else _NEVER
        match _named(kind):
            case "string":
                return self._text(name)
            case "array" if _named(kind["items"]) == "string":  # a list of at most one text
                return rb"(?:\x00|\x02%s\x00)" % self._text(name)
            case "record":
                return b"".join(self._pattern(field["type"]) for field in kind["fields"])
            case "int" | "long" if name in _NUMBERS:
                self._group(name)
                return rb"(%s)" % _NUMBER
        return _PLAIN.get(_named(kind), _NEVER)

    def _text(self, name: str = "") -> bytes:
        self._lengths.append(self._group())
        self._texts.append(self._group(name if name in _TEXTS else ""))
        return rb"(%s)(%s)" % (_NUMBER, _PRINTED)

    def _group(self, name: str = "") -> int:
        self._groups += 1
        self._found[name] = self._groups
        return self._groups


@lru_cache(maxsize=1 << 12)
def _text(encoded: bytes | None) -> str | None:
    """Decode a text that other files and commits repeat, so that it is in memory once."""
    return None if encoded is None else encoded.decode()


@lru_cache(maxsize=1 << 12)
def _number(encoded: bytes | None) -> int | None:
    return None if encoded is None else _Cursor(encoded).number()


@lru_cache(maxsize=1 << 12)
def _lengths(encoded: tuple[bytes | None, ...]) -> tuple[int, ...]:
    """Decode Avro string lengths; None (a null string) becomes 0."""
    return tuple(_number(each) or 0 for each in encoded)


def _named(kind: Any) -> str:
    return kind if isinstance(kind, str) else "" if "logicalType" in kind else kind["type"]

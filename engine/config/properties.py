"""Encodes and decodes the Java properties format of ``hoodie.properties`` (docs/hudi-format.md)."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

_SHORT: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED: Final = {**{char: f"\\{letter}" for letter, char in _SHORT.items()}, **{c: f"\\{c}" for c in "\\:=#!"}}
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[ \t\f]*[=: \t\f][ \t\f]*")
_KEY: Final = re.compile(r"(?:\\.|[^\\=: \t\f])*", re.DOTALL)


CHECKSUM: Final = "hoodie.table.checksum"


def encode_properties(values: Mapping[str, str]) -> bytes:
    """Encode `values` as ASCII text in the given order, one property on each line. The checksum is written last, so
    that a truncated file has no checksum.
    """
    ordered = sorted(values.items(), key=lambda item: item[0] == CHECKSUM)
    lines = [f"{_escape_key(key)}={_escape_value(value)}\n" for key, value in ordered]
    return "".join(["#\n", *lines]).encode("ascii")


def decode_properties(data: bytes) -> dict[str, str]:
    """Parse the content of a properties file. If a key occurs twice, the last value counts."""
    values: dict[str, str] = {}
    for line in _logical_lines(data.decode("latin-1")):
        found = _KEY.match(line)
        assert found is not None, "the pattern matches the empty key"
        rest = line[found.end() :]
        separator = _SEPARATOR.match(rest)
        values[_unescape(found[0])] = _unescape(rest[separator.end() :] if separator else rest)
    return values


def table_checksum(name: str, database: str = "") -> str:
    """Return the value of ``hoodie.table.checksum``. Hudi on Spark rejects a table with a wrong checksum."""
    return str(zlib.crc32(f"{database}.{name}".encode()))


def _escape_key(text: str) -> str:
    return "".join(map(_escape_char, text)).replace(" ", "\\ ")


def _escape_value(text: str) -> str:
    """Escape a value for a properties file, including a leading blank, which parsers would skip."""
    escaped = "".join(map(_escape_char, text))
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def _escape_char(char: str) -> str:
    if char in _ESCAPED:
        return _ESCAPED[char]
    if " " <= char <= "~":
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04X}" for at in range(0, len(units), 2))


def _unescape(text: str) -> str:
    plain = _ESCAPE.sub(_unescape_one, text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # two escapes may be one character


def _unescape_one(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else _SHORT.get(code, code)


def _logical_lines(text: str) -> Iterator[str]:
    pending = ""
    for natural in re.split(r"\r\n|\n|\r", text):
        line = natural.lstrip(" \t\f")
        if not pending and line.startswith(("#", "!")):
            continue
        if (len(line) - len(line.rstrip("\\"))) % 2:
            pending += line[:-1]
            continue
        if pending or line:
            yield pending + line
        pending = ""
    if pending:
        yield pending

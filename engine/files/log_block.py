"""Encodes and decodes the blocks of log files. A log file is a sequence of blocks, in which integers are big-endian
(docs/hudi-format.md).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from ..errors import Damaged, Unsupported

MAGIC: Final = b"#HUDI#"
FORMAT: Final = 1

_INT: Final = struct.Struct(">i")
_TWO_INTS: Final = struct.Struct(">ii")
_LONG: Final = struct.Struct(">q")
_HEAD: Final = len(MAGIC) + _LONG.size  # magic and length, which a block's length does not count


class BlockKind(IntEnum):
    """The kinds of blocks, with the ordinals of Hudi's ``HoodieLogBlockType``. The kind CORRUPT is never written; it
    represents unreadable bytes.
    """

    COMMAND = 0
    DELETE = 1
    CORRUPT = 2
    AVRO = 3
    HFILE = 4
    PARQUET = 5
    CDC = 6


class Header(IntEnum):
    """The keys in the header map of a block. Hudi and hudi-rs fail on a block header with unknown keys."""

    INSTANT = 0
    TARGET_INSTANT = 1
    SCHEMA = 2
    COMMAND = 3
    COMPACTED_INSTANTS = 4
    POSITIONS = 5
    BLOCK_IDENTIFIER = 6
    IS_PARTIAL = 7
    POSITIONS_BASE_INSTANT = 8


ROLLBACK: Final = "0"
"""The only command: the value of `Header.COMMAND` in a rollback block."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a log file. `content` is a view of the file's bytes; the content of a CORRUPT block is the
    unreadable bytes.
    """

    kind: BlockKind
    headers: Mapping[Header, str]
    content: memoryview

    @property
    def instant(self) -> str | None:
        """The requested time of the commit that wrote the block. A block without an instant (caused by a bug in Hudi)
        counts as written by a commit that never completed.
        """
        return self.headers.get(Header.INSTANT)

    @property
    def partial(self) -> bool:
        """True if the block contains a partial update, whose rows have only the columns that the write set."""
        return self.headers.get(Header.IS_PARTIAL, "").lower() == "true"


def compacted_header(instants: Sequence[str]) -> dict[Header, str]:
    """Return the block header that lists the instants whose blocks a log compaction replaces."""
    return {Header.COMPACTED_INSTANTS: ",".join(instants)} if instants else {}


def encode_block(kind: BlockKind, headers: Mapping[Header, str], content: bytes) -> bytes:
    """Encode one log block, with the headers in the given order and an empty footer."""
    head = b"".join(
        [_TWO_INTS.pack(FORMAT, kind), _INT.pack(len(headers))]
        + [_TWO_INTS.pack(key, len(text)) + text for key, text in ((k, v.encode()) for k, v in headers.items())]
        + [_LONG.pack(len(content))]
    )
    footer = _INT.pack(0)
    length = len(head) + len(content) + len(footer) + _LONG.size
    return b"".join((MAGIC, _LONG.pack(length), head, content, footer, _LONG.pack(_pointer(length))))


def read_blocks(data: bytes | memoryview, name: str = "log file") -> Iterator[Block]:
    """Yield the blocks of a log file in order; an empty file has no blocks.

    A block is valid if it ends within the file and its length matches the length repeated at its end. Bytes outside
    valid blocks (for example, a truncated end) are returned as one CORRUPT block. Raises `Damaged` if the file does not
    begin with a block.
    """
    view = memoryview(data)
    if view and not _magic_at(view, 0):
        raise Damaged(
            f"read {name}", "it does not begin with the magic of a Hudi log block", "restore the file from a copy"
        )
    position = 0
    while position < len(view):
        end = _end_of_block(view, position)
        if end is None:
            # One byte further, because the magic at this place begins the block that is not whole.
            end = _next_magic(data, position + 1)
            yield Block(BlockKind.CORRUPT, {}, view[position:end])
        else:
            try:
                block = _parse(view[position:end], name)
            except (struct.error, ValueError) as broken:
                exists = f"a block in it has a header that cannot be decoded ({broken})"
                raise Damaged(f"read {name}", exists, "restore the file from a copy") from None
            yield block
        position = end


def without_rolled_back(blocks: Iterable[Block]) -> list[Block]:
    """Return the blocks of a log file, except rollback blocks and the blocks that they undo.

    A rollback block undoes all earlier blocks of its target instant, and all earlier corrupt blocks. A second rollback
    block with the same target has no further effect. Blocks after a rollback block are valid, as in Apache Hudi 1.x.
    """
    standing: list[Block] = []
    for block in blocks:
        if block.kind == BlockKind.COMMAND and block.headers.get(Header.COMMAND) == ROLLBACK:
            target = block.headers.get(Header.TARGET_INSTANT)
            standing = [each for each in standing if each.kind != BlockKind.CORRUPT and each.instant != target]
        else:
            standing.append(block)
    return standing


def _pointer(length: int) -> int:
    return length + _HEAD - _LONG.size


def _end_of_block(view: memoryview, start: int) -> int | None:
    if len(view) - start < _HEAD or not _magic_at(view, start):
        return None
    length: int = _LONG.unpack_from(view, start + len(MAGIC))[0]
    end = start + _HEAD + length
    if length < _LONG.size or end > len(view):
        return None
    return end if _LONG.unpack_from(view, end - _LONG.size)[0] == _pointer(length) else None


def _magic_at(view: memoryview, position: int) -> bool:
    return bytes(view[position : position + len(MAGIC)]) == MAGIC


def _next_magic(data: bytes | memoryview, start: int) -> int:
    position = bytes(data).find(MAGIC, start)
    return len(data) if position < 0 else position


def _parse(block: memoryview, name: str) -> Block:
    version, kind = _TWO_INTS.unpack_from(block, _HEAD)
    if version != FORMAT:
        raise Unsupported(
            f"read {name}", f"a block in it has log format version {version}", f"this release reads version {FORMAT}"
        )
    headers, position = _parse_headers(block, _HEAD + _TWO_INTS.size, name)
    length = _LONG.unpack_from(block, position)[0]
    if not 0 <= length <= len(block) - position - _LONG.size:
        raise ValueError(f"its content claims {length} bytes")
    content = block[position + _LONG.size : position + _LONG.size + length]
    return Block(BlockKind(kind), headers, content)


def _parse_headers(block: memoryview, position: int, name: str) -> tuple[dict[Header, str], int]:
    headers: dict[Header, str] = {}
    count = _INT.unpack_from(block, position)[0]
    position += _INT.size
    for _ in range(count):
        key, length = _TWO_INTS.unpack_from(block, position)
        position += _TWO_INTS.size
        if not 0 <= length <= len(block) - position:
            raise ValueError(f"an entry claims {length} bytes")
        try:
            header = Header(key)
        except ValueError:
            raise Unsupported(
                f"read {name}", f"a block in it has the unknown header {key}", "use a release that knows it"
            ) from None
        headers[header] = str(block[position : position + length], "utf-8")
        position += length
    return headers, position

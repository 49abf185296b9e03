"""The names an operation gives to what it writes; a seam, so that a trace can fix them."""

from __future__ import annotations

import secrets
from typing import Final, Protocol

_TOKEN_RANGE: Final = 2**31  # Hudi parses each part of a token as a Java int


class Names(Protocol):
    """Where file ids and write tokens come from."""

    def write_token(self) -> str:
        """Three integers joined by '-', different for each attempt to write a file."""
        ...

    def file_id(self, bucket: int) -> str:
        """The file group of a bucket in every partition."""
        ...


class RandomNames:
    """Fixed file ids of non-blocking concurrency control, and tokens that two attempts practically never share."""

    def write_token(self) -> str:
        return f"0-{secrets.randbelow(_TOKEN_RANGE)}-{secrets.randbelow(_TOKEN_RANGE)}"

    def file_id(self, bucket: int) -> str:
        return bucket_file_id(bucket)


def bucket_file_id(bucket: int) -> str:
    """The fixed id by which writers that never speak to each other agree on a group (hudi-format §8.3)."""
    return f"{bucket:08d}-0000-0000-0000-000000000000-0"


def bucket_of(file_id: str) -> int | None:
    """The bucket of a file id of a bucket index, or None for an id of another index."""
    head = file_id[:8]
    return int(head) if len(head) == 8 and head.isdecimal() else None

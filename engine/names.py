"""Generators of write tokens and file ids. Replaceable, so that a trace can fix them."""

from __future__ import annotations

import secrets
from typing import Final, Protocol

_TOKEN_RANGE: Final = 2**31  # Hudi parses each part of a token as a Java int


class Names(Protocol):
    """A generator of write tokens and file ids."""

    def write_token(self) -> str:
        """Three integers joined by '-', unique for each attempt to write a file."""
        ...

    def file_id(self, bucket: int) -> str:
        """The file id of a bucket, the same in every partition."""
        ...


class RandomNames:
    """Fixed file ids, as non-blocking concurrency control needs, and random tokens."""

    def write_token(self) -> str:
        return f"0-{secrets.randbelow(_TOKEN_RANGE)}-{secrets.randbelow(_TOKEN_RANGE)}"

    def file_id(self, bucket: int) -> str:
        return bucket_file_id(bucket)


def bucket_file_id(bucket: int) -> str:
    """The fixed file id of a bucket, on which writers agree without communication (docs/hudi-format.md)."""
    return f"{bucket:08d}-0000-0000-0000-000000000000-0"


def bucket_of(file_id: str) -> int | None:
    """The bucket of a file id of a bucket index, or None for an id of another index."""
    head = file_id[:8]
    return int(head) if len(head) == 8 and head.isdecimal() else None

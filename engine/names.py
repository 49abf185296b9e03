"""Generators of write tokens and file ids. Tests that replay a trace use a generator that returns fixed tokens and ids.
"""

from __future__ import annotations

import secrets
from typing import Final, Protocol

_TOKEN_RANGE: Final = 2**31  # Hudi parses each part of a token as a Java int


class Names(Protocol):
    """A generator of write tokens and file ids."""

    def write_token(self) -> str:
        """Return a write token: three integers joined by '-', unique to each attempt to write a file."""
        ...

    def file_id(self, bucket: int) -> str:
        """Return the file id of a bucket, which is the same in every partition."""
        ...


class RandomNames:
    """Generates random write tokens, and the fixed file ids that non-blocking concurrency control requires."""

    def write_token(self) -> str:
        return f"0-{secrets.randbelow(_TOKEN_RANGE)}-{secrets.randbelow(_TOKEN_RANGE)}"

    def file_id(self, bucket: int) -> str:
        return bucket_file_id(bucket)


def bucket_file_id(bucket: int) -> str:
    """Return the fixed file id of a bucket, which all writers compute from the bucket number alone
    (docs/hudi-format.md).
    """
    return f"{bucket:08d}-0000-0000-0000-000000000000-0"


def bucket_of(file_id: str) -> int | None:
    """Return the bucket number in a file id of a bucket index; None for any other file id."""
    head = file_id[:8]
    return int(head) if len(head) == 8 and head.isdecimal() else None

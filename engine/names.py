"""Generators of write tokens and file ids. Tests that replay a trace use a generator that returns fixed tokens and ids.
"""

from __future__ import annotations

import re
import secrets
from math import gcd
from typing import Final, NamedTuple, Protocol

_TOKEN_RANGE: Final = 2**31  # Hudi parses each part of a token as a Java int
_RESIZED: Final = re.compile(r"\d{8}-(\d{4})-0000-0000-(\d{12})-0")


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


class Generation(NamedTuple):
    """The file groups that a table has between two resizes: `buckets` in each partition. `number` is the number of
    resizes that have completed before; it is 0 for the file groups of a table that was never resized.
    """

    number: int
    buckets: int


UNRESIZED: Final = Generation(0, 0)


def bucket_file_id(bucket: int, generation: Generation = UNRESIZED) -> str:
    """Return the fixed file id of a bucket, which all writers compute from the bucket number and the generation
    (docs/hudi-format.md). The file id of a resized table states which keys the file group holds.
    """
    number, buckets = generation
    return f"{bucket:08d}-{number:04d}-0000-0000-{buckets if number else 0:012d}-0"


def bucket_of(file_id: str) -> int | None:
    """Return the bucket number in a file id of a bucket index; None for any other file id."""
    head = file_id[:8]
    return int(head) if len(head) == 8 and head.isdecimal() else None


def generation_of(file_id: str, first: int) -> Generation:
    """Return the generation of a file group. `first` is the number of buckets before the first resize."""
    match = _RESIZED.fullmatch(file_id)
    found = Generation(int(match[1]), int(match[2])) if match else Generation(0, first)
    return found if found.number and found.buckets else Generation(0, first)


def meets(file_id: str, other: str, first: int) -> bool:
    """Return whether two file groups of one partition can hold the same key. Group b of N holds the hashes h with
    h % N == b, so two groups meet if their numbers agree modulo the greatest common divisor of their counts.
    """
    number, width = bucket_of(file_id), generation_of(file_id, first).buckets
    theirs, their_width = bucket_of(other), generation_of(other, first).buckets
    if number is None or theirs is None:
        return file_id == other
    return (number - theirs) % gcd(width, their_width) == 0

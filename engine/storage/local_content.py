"""Reads an open local file, whole or in parts."""

from __future__ import annotations

import os

from ..errors import UnsafePath


def content(file: int, size: int) -> bytes:
    """Return the bytes from the file descriptor's position to the end of the file; `size` is the approximate file size.
    """
    parts = []
    while piece := os.read(file, max(size, 0) + 1):
        parts.append(piece)
        size -= len(piece)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def part(file: int, start: int, end: int) -> bytes:
    """Return the bytes of a file from `start` up to `end`; fewer bytes if the file ends before `end`."""
    parts = []
    while start < end and (piece := os.pread(file, end - start, start)):
        parts.append(piece)
        start += len(piece)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def irregular(path: str) -> UnsafePath:
    """Return the error for a path that leads to a pipe, a socket or a device."""
    exists = "it is a pipe, a socket or a device, not a regular file"
    return UnsafePath(f"read {path!r}", exists, "remove it, or restore the file from a copy that you trust")

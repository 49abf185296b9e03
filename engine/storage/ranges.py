"""An object of a store as a file that is read in ranges."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any


class Ranges(io.RawIOBase):
    """An object of `size` bytes as a file. `read_range` returns the bytes from a start to an end."""

    def __init__(self, size: int, read_range: Callable[[int, int], bytes]) -> None:
        super().__init__()
        self._size = size
        self._read_range = read_range
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._size)
        data = self._read_range(self._at, end) if end > self._at else b""
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

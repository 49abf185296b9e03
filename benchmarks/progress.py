"""One line on standard error that says what is being timed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_BEGAN = time.monotonic()


@contextmanager
def during(what: str) -> Iterator[None]:
    """The line while something runs; on a terminal it is written over by the next one."""
    now = time.monotonic() - _BEGAN
    end = "\r" if sys.stderr.isatty() else "\n"
    print(
        f"\033[K{now:6.0f} s  {what}" if end == "\r" else f"{now:6.0f} s  {what}", end=end, file=sys.stderr, flush=True
    )
    yield

"""Refuses to use obstore, the object-store library, in a forked child process. A call to obstore in a forked child
would hang, because obstore's threads do not survive the fork.
"""

from __future__ import annotations

import os
from typing import Final

from ..errors import Unsupported

_STARTED: Final[list[int]] = []
"""The process in which the library was used first; a forked child inherits the entry."""


def refuse_forked(url: str) -> None:
    """Raise `Unsupported` in a forked child of a process that has used the store library. Call this function before
    every use of the store library.
    """
    process = os.getpid()
    if not _STARTED:
        _STARTED.append(process)
    if _STARTED[0] != process:
        raise Unsupported(
            f"use the table at {url} in process {process}",
            f"it was forked from process {_STARTED[0]}, which has used an object store: the store's threads ended",
            "start processes by multiprocessing.get_context('spawn'), or fork before an object store is used",
        )

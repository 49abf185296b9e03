"""Spark's Python workers, which live on from task to task."""

from __future__ import annotations

import gc
from functools import cache


@cache
def keep_loaded() -> None:
    """At the end of a worker's first task: what it has loaded by then is no garbage, and need not be looked at again.

    Spark collects garbage after each task. To go through all the objects of numpy, Arrow, Spark and nbcc takes 40 ms of
    a core, a fifth of what a task of a million rows in four file groups takes, and finds nothing.
    """
    gc.freeze()

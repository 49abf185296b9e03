"""Python workers of Spark, which run many tasks one after the other."""

from __future__ import annotations

import gc
from functools import cache


@cache
def keep_loaded() -> None:
    """Exclude the objects that a worker has loaded in its first task from garbage collection.

    Spark collects garbage after each task. The objects of numpy, Arrow, Spark and nbcc are never garbage. A garbage
    collection over the loaded objects takes 40 ms, which is a fifth of the time of a large task.
    """
    gc.freeze()

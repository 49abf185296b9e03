"""Searches that say nothing that lasts: they failed, or were short of memory."""

from __future__ import annotations

import traceback

from .memory import is_of_memory
from .result import PromiseResult, Result
from .verdict import Verdict

LOST = "SEARCH"
"""The name under which a search that failed says so, instead of those of promises."""


def lost(because: str | Exception) -> Result:
    """What there is of a search that failed: no verdict but that there is none."""
    said = _sentence(because) if isinstance(because, Exception) else because
    verdict = PromiseResult(name=LOST, verdict=Verdict.UNDETERMINED, because=said)
    return Result(distinct=0, generated=0, depth=0, seconds=0, stopped=said, promises={LOST: verdict})


def _sentence(error: Exception) -> str:
    """The error in a line, and the last place of the code that it comes from."""
    places = traceback.extract_tb(error.__traceback__)
    at = f" ({places[-1].filename.rpartition('/')[2]}, line {places[-1].lineno})" if places else ""
    return f"the search failed: {' '.join(f'{type(error).__name__}: {error}'.split())[:300]}{at}"


def fleeting(result: Result) -> str | None:
    """Why the same search may end otherwise another time: it failed, or was short of memory. None: it will not."""
    said = (result.stopped, *(found.because for found in result.promises.values()))
    return next((why for why in said if why and (LOST in result.promises or is_of_memory(why))), None)

"""Results of searches that failed or ran out of memory. The result of a failed search proves nothing about the model.
"""

from __future__ import annotations

import traceback

from .memory import is_of_memory
from .result import PromiseResult, Result
from .verdict import Verdict

FAILED = "SEARCH"
"""The key of a failed search's only result, in place of the names of promises."""


def failed_search(reason: str | Exception) -> Result:
    """Return the result of a search that failed: UNDETERMINED, with the reason."""
    sentence = _sentence(reason) if isinstance(reason, Exception) else reason
    verdict = PromiseResult(name=FAILED, verdict=Verdict.UNDETERMINED, because=sentence)
    return Result(distinct=0, generated=0, depth=0, seconds=0, stopped=sentence, promises={FAILED: verdict})


def _sentence(error: Exception) -> str:
    places = traceback.extract_tb(error.__traceback__)
    at = f" ({places[-1].filename.rpartition('/')[2]}, line {places[-1].lineno})" if places else ""
    return f"the search failed: {' '.join(f'{type(error).__name__}: {error}'.split())[:300]}{at}"


def transient(result: Result) -> str | None:
    """If a repeated search may have another result, return the reason: a failure or a lack of memory. Otherwise return
    None.
    """
    reasons = (result.stopped, *(promise.because for promise in result.promises.values()))
    return next((why for why in reasons if why and (FAILED in result.promises or is_of_memory(why))), None)

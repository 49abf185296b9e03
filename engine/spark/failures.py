"""Converts the error of a Spark job to the `NbccError` that a task of the job raised."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from .. import errors
from ..errors import CannotRun, NbccError

_CLASS: Final = r"(?:nbcc\.engine\.errors\.(\w+)|RuntimeError)"
_SENTENCE: Final = re.compile(rf"{_CLASS}: Asked to (.+?), but (.+): (.+)\.$", re.MULTILINE)


@contextmanager
def in_driver() -> Iterator[None]:
    """Convert an exception of a Spark job to the `NbccError` that a task raised, without the Java and worker
    tracebacks.
    """
    try:
        yield
    except NbccError:
        raise
    except Exception as failed:  # Spark's classic and remote sessions have error classes of their own
        error = error_of_task(str(failed))
        if error is None:
            raise
        raise error from None


def error_of_task(text: str) -> NbccError | None:
    """Return the `NbccError` that a task raised, parsed from Spark's error text; None if the text contains none."""
    sentence = _SENTENCE.search(text)
    if sentence is None:
        return None
    name, asked, exists, remedy = sentence.groups()
    kind = getattr(errors, name or "", CannotRun)
    return kind(asked, exists, remedy) if issubclass(kind, NbccError) else None

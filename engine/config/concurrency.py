"""The concurrency mode of a table's writers, stored as Hudi's property ``hoodie.write.concurrency.mode``."""

from __future__ import annotations

from typing import Final, Literal, get_args

from ..errors import BadInput

ConcurrencyMode = Literal["NON_BLOCKING_CONCURRENCY_CONTROL", "OPTIMISTIC_CONCURRENCY_CONTROL", "SINGLE_WRITER"]

OPTION: Final = "hoodie.write.concurrency.mode"
NON_BLOCKING: Final = "NON_BLOCKING_CONCURRENCY_CONTROL"
OPTIMISTIC: Final = "OPTIMISTIC_CONCURRENCY_CONTROL"
SINGLE_WRITER: Final = "SINGLE_WRITER"


def concurrency_mode(text: str, asked: str = "write") -> ConcurrencyMode:
    """Return the concurrency mode named `text`, ignoring case. Raises `BadInput` if no mode has this name."""
    for known in get_args(ConcurrencyMode):
        if isinstance(text, str) and text.upper() == known:
            mode: ConcurrencyMode = known
            return mode
    raise BadInput(
        f"{asked} with concurrency_mode={text!r}",
        "there is no such mode",
        f"use {' or '.join(get_args(ConcurrencyMode))}",
    )

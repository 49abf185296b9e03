"""Chooses the parameters of a test that are run by day; `make nightly` runs all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Final

import pytest

NIGHTLY: Final = os.environ.get("NBCC_BUDGET") == "nightly"


def amount(day: int, night: int) -> int:
    """Return how many histories or seeds a test has: fewer by day."""
    return night if NIGHTLY else day


def one_of(every: int, values: Iterable[str]) -> list[Any]:
    """Return the values as parameters of a test. One of `every` values in a row is run by day, and all at night."""
    return [pytest.param(value, marks=pytest.mark.nightly if n % every else ()) for n, value in enumerate(values)]

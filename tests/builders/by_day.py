"""Chooses the parameters of a test that are run by day; `make nightly` runs all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def one_of(every: int, values: Iterable[str]) -> list[Any]:
    """Return the values as parameters of a test. One of `every` values in a row is run by day, and all at night."""
    return [pytest.param(value, marks=pytest.mark.nightly if n % every else ()) for n, value in enumerate(values)]

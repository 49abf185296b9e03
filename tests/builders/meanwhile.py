"""What happens before the next call of a function, as if its actor stood still there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def before_next(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, meanwhile: Callable[[], object]) -> None:
    """Call `meanwhile` once, before the next call of the function `name` of a module or class."""
    function = getattr(owner, name)

    def late(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(owner, name, function)
        meanwhile()
        return function(*given, **named)

    monkeypatch.setattr(owner, name, late)

"""Runs TLC, the TLA+ model checker, on specs/tla, a TLA+ specification equivalent to the model.

Tests compare the state counts, verdicts and speed of TLC with those of nbcc's searches.
"""

from __future__ import annotations

from .run import TWIN, Counted, TlcMissing, jar, tlc
from .settings import FAULTS, configuration

__all__ = ["FAULTS", "TWIN", "Counted", "TlcMissing", "configuration", "jar", "tlc"]

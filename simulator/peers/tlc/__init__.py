"""TLC, the model checker of TLA+, searches the twin in specs/tla, for comparison of sizes, verdicts and speed."""

from __future__ import annotations

from .run import Counted, TlcMissing, jar, tlc
from .settings import FAULTS, configuration

__all__ = ["FAULTS", "Counted", "TlcMissing", "configuration", "jar", "tlc"]

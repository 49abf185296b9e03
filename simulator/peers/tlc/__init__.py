"""TLC, the model checker of TLA+: the twin in specs/tla searched by another program, for sizes, verdicts and speed."""

from __future__ import annotations

from .run import Counted, TlcMissing, jar, tlc
from .settings import FAULTS, configuration

__all__ = ["FAULTS", "Counted", "TlcMissing", "configuration", "jar", "tlc"]

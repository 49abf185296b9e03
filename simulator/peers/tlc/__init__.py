"""Runs TLC, the model checker of TLA+, on the TLA+ specification in specs/tla, which is equivalent to the model. Tests
compare the sizes, verdicts and speed of TLC's searches with the searches of nbcc.
"""

from __future__ import annotations

from .run import Counted, TlcMissing, jar, tlc
from .settings import FAULTS, configuration

__all__ = ["FAULTS", "Counted", "TlcMissing", "configuration", "jar", "tlc"]

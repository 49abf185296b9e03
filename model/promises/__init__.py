"""The promises of the model: checked properties of reads, table services and writers (docs/contract.md)."""

from __future__ import annotations

from .answering import ANSWER, FRESH
from .archiving import ARCH
from .bounded import BOUNDED
from .cleaning import CLEAN, RETAIN
from .conflicts import FIRST, KEY
from .derived import SAME
from .erased import ERASED
from .failures import ACK, ONCE, REC
from .isolation import ANOMALIES, ISO
from .progress import PROGRESS
from .promise import Promise, in_ending_worlds
from .read_optimized import RO
from .reads import ATOM, CDC, INCR, SNAP, TRAVEL
from .saved import SAVED
from .services import PART, QUIET
from .times import MONO
from .useful import USEFUL
from .waits import WAIT
from .writers import CANARY, FREE, LAWS

_READS = (SNAP, TRAVEL, INCR, CDC, ATOM, RO, ANSWER, FRESH, SAME)
_SERVICES = (QUIET, PART, CLEAN, RETAIN, ARCH, SAVED, USEFUL)
_WRITERS = (MONO, FREE, WAIT, LAWS, FIRST, KEY, ISO, ERASED, REC, ACK, ONCE, BOUNDED, PROGRESS)
PROMISES: dict[str, Promise] = {promise.name: in_ending_worlds(promise) for promise in (*_READS, *_SERVICES, *_WRITERS)}

__all__ = ["ANOMALIES", "CANARY", "PROMISES", "Promise"]

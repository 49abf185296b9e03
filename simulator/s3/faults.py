"""Faults of the S3 server: failed answers, lost answers, delays, and requests that wait for each other."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["refuse", "lose", "stall", "conflict", "fail", "slow", "drop", "expire"]


class Stored(NamedTuple):
    """One version of an object."""

    data: bytes
    tag: str
    modified: float


@dataclass
class Request:
    """A request: its method, its key (or prefix, for a listing), the times of its begin and answer in seconds, and its
    form.

    `fault` is the kind of fault that the request met. `stored` is the tag of the object that the request stored.
    """

    method: str
    key: str
    began: float = 0.0
    ended: float = 0.0
    is_conditional: bool = False
    is_part: bool = False
    fault: str = ""
    stored: str = ""


@dataclass
class Fault:
    """What the server does to `times` requests of `method` whose key matches, after the next `spared` of them.

    refuse    execute the request, and answer 412
    lose      execute the request, and close the connection without an answer
    stall     execute the request, and answer after `Bucket.stall_seconds`: the client times out
    conflict  change nothing, and answer 409
    fail      change nothing, and answer 400
    slow      change nothing, and answer 503 SlowDown
    expire    change nothing, and answer 400 ExpiredToken
    drop      change nothing, and close the connection without an answer

    `end`: the end of the key, or a regular expression that the key contains if `pattern` is set.
    """

    kind: Kind
    end: str
    method: str = "PUT"
    times: int = 1
    spared: int = 0
    pattern: bool = False

    def is_for(self, request: Request) -> bool:
        """Return whether the fault applies to a request."""
        found = re.search(self.end, request.key) is not None if self.pattern else request.key.endswith(self.end)
        return found and self.times > 0 and self.method == request.method


@dataclass
class Meeting:
    """Requests that the server delays until all of them have begun: the first `size` matching requests after the next
    `spared`.

    Each request waits until all requests of the meeting have begun. `is_missed` is True if the requests did not all
    begin in time.
    """

    method: str
    pattern: str
    size: int
    spared: int = 0
    is_missed: bool = False

    def __post_init__(self) -> None:
        self.begun, self._barrier = 0, threading.Barrier(self.size)

    def join(self, request: Request) -> bool:
        """Return whether the request belongs to the meeting. Only one thread at a time may call `join`."""
        if self.method != request.method or not re.search(self.pattern, request.key):
            return False
        self.begun += 1
        return self.spared < self.begun <= self.spared + self.size

    def wait(self) -> None:
        """Return when all requests of the meeting have begun."""
        try:
            self._barrier.wait(20)
        except threading.BrokenBarrierError:
            self.is_missed = True

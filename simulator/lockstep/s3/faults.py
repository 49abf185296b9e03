"""Faults of the local S3 server: failed requests, lost answers, delays, and requests that wait for each other."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["refuse", "lose", "stall", "conflict", "fail", "forbid", "slow", "drop", "expire"]


class Stored(NamedTuple):
    data: bytes
    tag: str
    modified: float


@dataclass
class Request:
    """A request: its HTTP method, its key (or prefix, for a listing), and the times in seconds at which it began and
    was answered.

    `fault` is the kind of fault that was applied to the request. `stored` is the ETag of the object that the request
    stored. If one request deletes several keys, each further key has an entry with `is_further_key`.
    """

    method: str
    key: str
    began: float = 0.0
    ended: float = 0.0
    is_conditional: bool = False
    is_part: bool = False
    fault: str = ""
    stored: str = ""
    is_further_key: bool = False


@dataclass
class Fault:
    """A fault that affects `times` requests of `method` with a matching key. The first `spared` matching requests are
    not affected.

    With the kinds `refuse`, `lose` and `stall`, the server executes the request, but the client does not learn this.
    With `refuse`, the server answers 412, as if the request's precondition had failed. With `lose`, the server closes
    the connection without an answer. With `stall`, the server answers after `Bucket.stall_seconds`, so that the client
    times out. With the kinds `conflict` (answer 409), `fail` (400), `forbid` (403), `slow` (503 SlowDown), `expire`
    (400 ExpiredToken) and `drop` (no answer, connection closed), the server does not execute the request.

    The fault affects only keys that end with `end`. If `pattern` is True, `end` is a regular expression that must match
    somewhere in the key.
    """

    kind: Kind
    end: str
    method: str = "PUT"
    times: int = 1
    spared: int = 0
    pattern: bool = False

    def is_for(self, request: Request) -> bool:
        found = re.search(self.end, request.key) is not None if self.pattern else request.key.endswith(self.end)
        return found and self.times > 0 and self.method == request.method


@dataclass
class Meeting:
    """Delays `size` matching requests until all of them have arrived, to force concurrency.

    `method` and `pattern` are regular expressions of the request's method and of a part of its key. The first `spared`
    matching requests are not delayed. `is_missed` is True if fewer than `size` further matching
    requests arrived before the time limit.
    """

    method: str
    pattern: str
    size: int
    spared: int = 0
    is_missed: bool = False

    def __post_init__(self) -> None:
        self.begun, self._barrier = 0, threading.Barrier(self.size)

    def join(self, request: Request) -> bool:
        """Count the request if it matches. Returns True if it is one of the requests to delay. Only one thread at a
        time may call `join`.
        """
        if not re.fullmatch(self.method, request.method) or not re.search(self.pattern, request.key):
            return False
        self.begun += 1
        return self.spared < self.begun <= self.spared + self.size

    def wait(self) -> None:
        """Wait until all `size` requests have arrived."""
        try:
            # In the thread of one connection: the others serve on meanwhile. A missed meeting must fail a test, not
            # hang it.
            self._barrier.wait(20)
        except threading.BrokenBarrierError:
            self.is_missed = True

"""The conductor: each operation of an actor in a thread of its own, exactly one of them running at a time.

A seam (storage, lock, clock, jobs) announces each call to `Task.call`. When the call before it ended the segment
that was asked for, the thread parks there and the main thread goes on; so between two segments every actor stands
right before a call, and what happens next is nobody's decision but the schedule's.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Container
from typing import Any, TypeVar

from . import audit
from .calls import Call

T = TypeVar("T")
RETURN = "return"


class ActorCrashed(BaseException):
    """Unwinds the thread of a crashed actor. Not an Exception: no ``except Exception`` of the engine may stop it."""


class ActorSilent(Exception):
    """An actor neither reached a scheduling point nor returned in time; the message holds its stack."""


class ActorBlocked(Exception):
    """The actor's next call cannot proceed: the lock that it asks for is held."""


class Task:
    """One operation of one actor. `run` lets it do one segment; `crash` kills it where it stands."""

    def __init__(self, actor: str, function: Callable[[], object], patience: float = 10.0) -> None:
        self.actor = actor
        self.calls: list[Call] = []  # executed so far
        self.pending: Call | None = None  # announced, not executed
        self.result: object = None
        self.error: BaseException | None = None
        self.finished = False
        self.dead = False
        self._function = function
        self._patience = patience
        self._ends_after: tuple[str, ...] = ()
        self._also: Container[str] = ()
        self._over = False
        self._blocked = False
        self._go = threading.Semaphore(0)
        self._back = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._main, name=f"nbcc-{actor}", daemon=True)

    def run(self, ends_after: str | tuple[str, ...], also: Container[str] = ()) -> list[Call]:
        """Run to the end of a segment and return the calls it made.

        The segment ends after the first call whose text is ``ends_after``, or one of them (and those with a text in
        ``also`` that follow it directly), or when the operation returns. An exception of the operation is kept in
        ``error``.

        Raises:
            ActorBlocked: the next call waits for a lock that somebody holds; nothing was executed since.
            ActorSilent: no scheduling point within the patience.
        """
        if self.finished:
            return []
        before = len(self.calls)
        self._ends_after = (ends_after,) if isinstance(ends_after, str) else ends_after
        self._also, self._over, self._blocked = also, False, False
        self._switch()
        if self._blocked:
            raise ActorBlocked(f"{self.actor} waits: its next call is {self.pending.text if self.pending else '?'}")
        return self.calls[before:]

    def crash(self) -> None:
        """Let every handle of the actor go dead, then unwind its thread: a ``finally`` cannot reach the table."""
        self.dead = True
        if not self.finished:
            if self._thread.ident is None:  # it never ran: nothing to unwind
                self.finished = True
                return
            self._switch()

    def call(self, call: Call, execute: Callable[[], T], ready: Callable[[], bool] | None = None) -> T:
        """Announce a call, wait for permission, execute it. Called by the seams, on the actor's thread.

        A call from another thread (a read of the table by the harness itself) is no actor's and runs at once.
        """
        if threading.current_thread() is not self._thread:
            return execute()
        self._die_if_dead()
        self.pending = call
        if self._over and call.text not in self._also:
            self._park()
        while ready is not None and not ready():
            self._blocked = True
            self._park()
        self.pending = None
        with audit.inside_seam(self):
            result = execute()
        self.calls.append(call)
        self._over = self._over or call.text in self._ends_after
        return result

    # Two semaphores hand the one permission to run back and forth.

    def _switch(self) -> None:
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._go.release()
        if not self._back.acquire(timeout=self._patience):
            raise ActorSilent(self._silence())

    def _park(self) -> None:
        self._back.release()
        self._go.acquire()
        self._die_if_dead()

    def _die_if_dead(self) -> None:
        if self.dead:
            raise ActorCrashed(self.actor)

    def _main(self) -> None:
        audit.watch(self)
        try:
            self.result = self._function()
        except ActorCrashed:
            pass
        except BaseException as error:
            self.error = error
        finally:
            audit.unwatch()
            self.finished = True
            self._back.release()

    def _silence(self) -> str:
        frame: Any = sys._current_frames().get(self._thread.ident or 0)
        stack = "".join(traceback.format_stack(frame)) if frame is not None else "(its thread is gone)\n"
        last = self.calls[-1].text if self.calls else "none"
        return f"{self.actor} was silent for {self._patience:g} s (last call: {last}); its stack:\n{stack}"

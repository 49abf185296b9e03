"""The conductor runs each actor's operation in its own thread; exactly one thread runs at a time.

The controlled storage, lock, clock and jobs pass each call to `Task.call`. After the calls of one model step, the
actor's thread waits, and control returns to the main thread. The schedule alone decides which actor runs next.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Container
from typing import Any, Final, TypeVar

from . import audit
from .calls import Call

T = TypeVar("T")
RETURN = "return"
_TICKS: Final = 10
_BUSY: Final = 2
_WAKES: Final = 0.001
"""The most seconds of processor time that a process uses in a tick in which it only waits."""


class ActorCrashed(BaseException):
    """Raised in the thread of a crashed actor in order to end the thread. `ActorCrashed` is not an Exception, so no
    ``except Exception`` in the engine catches it.
    """


class ActorSilent(Exception):
    """Raised if an actor neither makes a controlled call nor returns, and waits or computes for too long. The error
    message contains the stack of the actor's thread.

    An actor waits for too long if the process is idle during its patience. It computes for too long if the process uses
    twice its patience of processor time. Seconds alone decide nothing: on a loaded machine, or on one that is
    suspended, a step may take any time.
    """


class ActorBlocked(Exception):
    """Raised if an actor's next call must wait for the lock because another actor holds it."""


class Task:
    """One operation of one actor. `run` executes the calls of the next model step; `crash` ends the operation before
    its next call.
    """

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
        self._before: Container[str] = ()
        self._in_vain = True
        self._over = False
        self._blocked = False
        self._go = threading.Semaphore(0)
        self._back = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._main, name=f"nbcc-{actor}", daemon=True)

    def run(
        self,
        ends_after: str | tuple[str, ...],
        also: Container[str] = (),
        before: Container[str] = (),
        in_vain: bool = True,
    ) -> list[Call]:
        """Execute and return the operation's next segment: the calls of one model step.

        The segment ends after the first call whose `Call.text` equals ``ends_after`` or is one of several texts in
        ``ends_after``. Calls that immediately follow this last call also belong to the segment if their text is in
        ``also``. A segment ends before a call whose text is in ``before``, perhaps without any call. If ``in_vain`` is
        False, a put that finds its object there does not end the segment. If the operation returns before such a last
        call, the segment ends when the operation returns. An exception raised by the operation is stored in ``error``.

        Raises ActorBlocked if the next call must wait for a lock that another actor holds. Raises ActorSilent if the
        actor makes no call to the storage, lock or clock for too long.
        """
        if self.finished:
            return []
        executed = len(self.calls)
        self._ends_after = (ends_after,) if isinstance(ends_after, str) else ends_after
        self._also, self._before, self._in_vain = also, before, in_vain
        self._over = self._blocked = False
        self._switch()
        if self._blocked:
            raise ActorBlocked(f"{self.actor} waits: its next call is {self.pending.text if self.pending else '?'}")
        return self.calls[executed:]

    def crash(self) -> None:
        """Make all further calls of the actor fail, so that its ``finally`` blocks cannot change the table, and end its
        thread.
        """
        self.dead = True
        if not self.finished:
            if self._thread.ident is None:  # it never ran: nothing to unwind
                self.finished = True
                return
            self._switch()

    def call(
        self,
        call: Call,
        execute: Callable[[], T],
        ready: Callable[[], bool] | None = None,
        outcome: Callable[[T], str] = lambda result: "done",
    ) -> T:
        """Record a call as pending, wait until the schedule permits it, and execute it. The controlled storage, lock,
        clock and jobs call `Task.call` on the actor's thread.

        A call from another thread, such as a read by the test harness, belongs to no actor and is executed immediately.
        """
        if threading.current_thread() is not self._thread:
            return execute()
        self._die_if_dead()
        self.pending = call
        while (self._over and call.text not in self._also) or call.text in self._before:
            self._park()
        # Asked again after each wake-up: another actor may have taken the lock first.
        while ready is not None and not ready():
            self._blocked = True
            self._park()
        self.pending = None
        with audit.inside_seam(self):
            result = execute()
        self.calls.append(call)
        ends = call.text in self._ends_after and (self._in_vain or outcome(result) != "exists")
        self._over = self._over or ends
        return result

    # Two semaphores pass the one permission to run between the main thread and the actor's thread.

    def _switch(self) -> None:
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._go.release()
        begun = time.process_time()
        idle = 0
        while idle < _TICKS and time.process_time() - begun < _BUSY * self._patience:
            before = time.process_time()
            if self._back.acquire(timeout=self._patience / _TICKS):
                return
            # Processor time and not seconds, because a loaded machine may not run the thread for a long while.
            idle = 0 if time.process_time() - before > _WAKES else idle + 1
        most = f"waited for {self._patience:g} s" if idle == _TICKS else f"computed for {_BUSY * self._patience:g} s"
        raise ActorSilent(self._silence(most))

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
        # Any error belongs to the operation, and the main thread decides what it means.
        except BaseException as error:
            self.error = error
        finally:
            audit.unwatch()
            self.finished = True
            self._back.release()

    def _silence(self, most: str) -> str:
        frame: Any = sys._current_frames().get(self._thread.ident or 0)
        stack = "".join(traceback.format_stack(frame)) if frame is not None else "(its thread is gone)\n"
        last = self.calls[-1].text if self.calls else "none"
        return f"{self.actor} was silent and {most} (last call: {last}); its stack:\n{stack}"

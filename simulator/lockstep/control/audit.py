"""Detects leaks: an actor that uses files, sockets, threads or sleep other than through its controlled storage, lock
and clock.

Python's audit hooks report all uses of files, sockets, threads (since Python 3.12) and sleep (since Python 3.13). The
leak detector installs one audit hook, on first use, and never another, because Python cannot remove audit hooks. The
audit hook ignores threads that do not run a simulated actor.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol

_WATCHED: dict[int, Watched] = {}
_INSIDE: set[int] = set()
_INSTALLED = threading.Lock()
_PY4J = f"{os.sep}py4j{os.sep}"
_IMPORTERS = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>", "<frozen zipimport>")

FORBIDDEN = frozenset(
    {
        "open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.utime",
        "os.listdir", "os.scandir", "os.chmod", "os.system", "os.exec", "os.fork", "os.posix_spawn",
        "subprocess.Popen", "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo",
        "_thread.start_new_thread", "_thread.start_joinable_thread", "time.sleep",
    }
)  # fmt: skip


class Watched(Protocol):
    """The actor that runs in a watched thread."""

    actor: str


class LeakOutsideSeams(Exception):
    """Raised if an actor performs I/O that the schedule does not control."""


def watch(owner: Watched) -> None:
    """Watch the calling thread, which runs the operation of `owner`."""
    _install()
    _WATCHED[threading.get_ident()] = owner


def unwatch() -> None:
    """Stop reporting leaks of the calling thread."""
    _WATCHED.pop(threading.get_ident(), None)


@contextmanager
def inside_seam(owner: Watched) -> Iterator[None]:
    """Allow I/O by the calling thread during a `with` block, which executes a call to the controlled storage, lock,
    clock or jobs.
    """
    me = threading.get_ident()
    _INSIDE.add(me)
    try:
        yield
    finally:
        _INSIDE.discard(me)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _WATCHED or event not in FORBIDDEN:
        return
    me = threading.get_ident()
    owner = _WATCHED.get(me)
    if owner is None or me in _INSIDE or _exempt():
        return
    what = ", ".join(repr(argument) for argument in arguments[:2])
    raise LeakOutsideSeams(f"{owner.actor} called {event}({what}) outside the seams of its context")


def _exempt() -> bool:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file in _IMPORTERS or _PY4J in file:
            return True
        frame = frame.f_back
    return False


_hooks: list[object] = []


def _install() -> None:
    with _INSTALLED:
        if not _hooks:
            _hooks.append(_hook)
            sys.addaudithook(_hook)

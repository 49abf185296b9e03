"""The entry point of `nbcc`: after Ctrl-C, the command always ends with exit code 130 and without a traceback.

Few modules are imported before the Ctrl-C handler is installed, because Ctrl-C during such an import causes a
traceback.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command line and end the process."""
    _leave_on_ctrl_c()
    from .main import main as command

    try:
        _raise_on_ctrl_c()
        command(arguments)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        _leave_on_ctrl_c()  # nothing is left to clean up, and Python would print a traceback while it shuts down


def _leave_on_ctrl_c() -> None:
    _handle(lambda *_: os._exit(INTERRUPTED))


def _raise_on_ctrl_c() -> None:
    """Make Ctrl-C raise KeyboardInterrupt, so that the command can clean up; a second Ctrl-C ends the process
    immediately.
    """

    def handler(*_: object) -> None:
        _leave_on_ctrl_c()
        raise KeyboardInterrupt

    _handle(handler)
    previous = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        # Python would print and drop an exception that is raised in a finalizer: the command would go on.
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            os._exit(INTERRUPTED)
        previous(unraisable)

    sys.unraisablehook = hook


def _handle(handler: Callable[..., None]) -> None:
    """Install a SIGINT handler, unless this process was started with SIGINT ignored (`nohup nbcc`, `nbcc &`)."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, handler)

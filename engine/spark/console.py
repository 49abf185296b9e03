"""Shows what Spark's processes have to say to the user, although `session` redirects the JVM's output to a file."""

from __future__ import annotations

import atexit
import re
import sys
import threading
from pathlib import Path
from typing import IO, Final

NOTICE: Final = re.compile(r"(?:^|UserWarning: )(nbcc ignores .*)")
"""The lines that `worker.tell_user` writes, as plain text or as a Python warning."""

_SECONDS: Final = 0.3


def show_notices(log: Path) -> None:
    """Copy lines for the user from the JVM's output to standard error, until the process ends."""
    stream = log.open(encoding="utf-8", errors="replace")
    stream.seek(0, 2)
    ended = threading.Event()
    follower = threading.Thread(target=_follow, args=(stream, ended), name="nbcc-notices", daemon=True)
    follower.start()

    def end() -> None:
        ended.set()
        follower.join(1)

    atexit.register(end)


def _follow(stream: IO[str], ended: threading.Event) -> None:
    rest = ""
    while True:
        last = ended.is_set()  # before the read: what is written until the end is shown
        *lines, rest = (rest + stream.read()).split("\n")
        for line in lines:
            if found := NOTICE.search(line):
                sys.stderr.write(f"{found[1]}\n")
        if last:
            return
        ended.wait(_SECONDS)

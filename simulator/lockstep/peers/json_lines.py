"""A process that answers each JSON object on its standard input with one JSON object on its standard output."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from threading import Timer
from typing import Any


class ProcessEnded(Exception):
    """The process has ended, or was ended because it did not answer in time. The message says how."""


class NotAnAnswer(ValueError):
    """A line of the process is not a JSON object."""


class JsonLines:
    """Starts a command with the first request. `seconds` limits the time of one answer; None: no limit.

    Raises FileNotFoundError or PermissionError, with the first request, if the command cannot be started.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None, seconds: float | None = None
    ) -> None:
        self._command = command
        self._environment = environment
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None

    @property
    def is_running(self) -> bool:
        """True if a request has started the process and it has not ended."""
        return self._process is not None and self._process.poll() is None

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send one request and return the answer."""
        # Not before the first request: a JVM takes seconds to start, and may never be asked.
        process = self._process = self._process or self._started()
        assert process.stdin is not None, "a pipe"
        assert process.stdout is not None, "a pipe"
        # A read of a pipe has no time limit of its own: ending the process ends the read.
        timer = Timer(self._seconds, process.kill) if self._seconds else None
        try:
            if timer:
                timer.start()
            process.stdin.write(json.dumps(request) + "\n")
            # A pipe is buffered by block: without this the process would wait for the request, and this one for the
            # answer.
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            # Before `cancel`, after which a timer that did not fire looks like one that did.
            late = timer is not None and not timer.is_alive()
            if timer:
                timer.cancel()
        if not line:
            # Forgotten, so that the next request starts a new process instead of failing on a closed pipe.
            code, self._process = process.wait(), None
            raise ProcessEnded(f"it gave no answer in {self._seconds:g} s" if late else f"it ended with {code}")
        return _object(line)

    def close(self) -> None:
        """End the process by closing its standard input, and wait until it has ended."""
        if self._process is None:
            return
        assert self._process.stdin is not None, "a pipe"
        self._process.stdin.close()
        try:
            # A process with work of its own left, such as a JVM's shutdown hooks, may not end by itself.
            self._process.wait(self._seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process = None

    def _started(self) -> subprocess.Popen[str]:
        environment = None if self._environment is None else dict(self._environment)
        return subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment
        )


def _object(line: str) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except json.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        raise NotAnAnswer(f"not a JSON object: {line.strip()[:80]!r}; standard output is for answers alone")
    return answer

"""What a page shows of one trace, as typed values. Pictures and the page's script draw nothing else.

Each instant, file and answer has a history: pairs (step, value), in which each value applies until the next pair. A
history contains only changes, so that a page stays small even for a trace of 2,000 steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from ..lockstep.mechanism import ServiceLabel
from .scene import Status

Value = TypeVar("Value")
Timed = Sequence[tuple[int, Value | None]]
"""A history. The value is None from the step on at which the thing no longer exists."""
Parts = list[Any]
"""A sentence in pieces: text, or [text, requested time] for text in the colour of that instant."""


def value_at(history: Timed[Value], step: int) -> Value | None:
    """Return the value of a history after `step` steps, or None if the history begins later."""
    return next((value for at, value in reversed(history) if at <= step), None)


class FileName(NamedTuple):
    """Identifies what is drawn in a file group: a slice or a base file by its barrier (0: no barrier), or a log file by
    the requested time of its write and its version.
    """

    kind: Literal["slice", "base", "log"]
    group: int
    time: int
    version: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.group}/{self.time}{f'.{self.version}' if self.version else ''}"


class ContentRow(NamedTuple):
    """One row of a file or answer. `value` is None for a delete. `requested` is the requested time of the row's write,
    or None in a log file, whose rows are all of one write.
    """

    key: str
    value: str | None
    ordering: Any
    requested: int | None = None


class FileState(NamedTuple):
    """What one read makes of a file or slice at one step, and why. `barrier` is that of the slice of a log file."""

    status: Status
    reason: str
    rows: tuple[ContentRow, ...] = ()
    barrier: int = 0


class InstantState(NamedTuple):
    """An instant at one step. `state` is "crashed" if its actor crashed before completing it."""

    action: str
    state: str
    completed: int | None
    actor: str


class Answer(NamedTuple):
    """The rows that the promise requires and those that the read returned, each None if there is no answer yet.
    `explanation` is the index of the explanation of a wrong answer.
    """

    must: tuple[ContentRow, ...] | None
    got: tuple[ContentRow, ...] | None
    explanation: int | None


NO_ANSWER = Answer(None, None, None)


class WrongAnswer(NamedTuple):
    """The explanation of one wrong answer, as a path from the write at `instant` through `file` in `slice` to the
    answer for `key`.

    `stop` names the slice that contains `file`, or the base file into which a compaction merged `file`. `barrier` is
    the requested time of the newer base file that hides `file`, or 0 if none does. `source_file` is the file whose row
    is read instead of the row in `file`. `captions` contains four sentences: about the write, the file, the rule and
    the answer. `right` states what happens under the default protocol.
    """

    key: str
    instant: int
    file: FileName
    slice: FileName
    stop: FileName
    barrier: int
    source_file: FileName | None
    captions: list[Parts]
    right: Parts


class PromiseStep(NamedTuple):
    """A promise, the first step that violates it (None: no step), and the message."""

    name: str
    about: str
    step: int | None
    message: str


class ProtocolView(NamedTuple):
    """The same steps under one protocol. If a step is impossible, `stopped` contains its number and the reasons."""

    rule: str
    label: str
    right: bool
    verdict: str
    sentence: Parts
    stopped: tuple[int, tuple[str, ...]] | None
    instants: Mapping[int, Timed[InstantState]]
    files: Mapping[FileName, Timed[FileState]]
    answers: Timed[Answer]
    explanations: Sequence[WrongAnswer]
    promises: Sequence[PromiseStep]


class ShownStep(NamedTuple):
    """One step: the indexes of its actor and of its sentence, and the requested time of its instant."""

    actor: int
    sentence: int
    instant: int | None


class ShownListing(NamedTuple):
    """A listing by a reader, from its first to its last step: the instants that it showed, and the completed instants
    that it missed.

    A listing is not atomic: it may show any subset of the instants that complete during the listing.
    """

    reader: str
    first: int
    last: int
    seen: list[int]
    missed: list[int]


class SystemAnswers(NamedTuple):
    """The answers of a system under test: pairs (step, rows), and a row is (key, value or None)."""

    name: str
    answers: Sequence[tuple[int, Sequence[tuple[str, str | None]]]]


class PageContent(NamedTuple):
    """All that the page of a trace shows. `views` holds the trace under its protocol, and under the default one if
    that is another. `differing` contains the values of the model and of the system after a disagreement.
    """

    handle: str
    title: str
    verdict: str
    promise: str
    about: str
    source: str
    because: str
    sentence: Parts
    differing: Sequence[Parts]
    breaking: int
    breaks: bool
    judged: int
    reading: str
    key: str
    ranked: bool
    actors: list[str]
    kinds: list[str]
    services: Mapping[str, ServiceLabel]
    groups: int
    steps: Sequence[ShownStep]
    sentences: Sequence[str]
    listings: Sequence[ShownListing]
    systems: Sequence[SystemAnswers]
    views: Sequence[ProtocolView]

    @property
    def own(self) -> ProtocolView:
        """The trace under its own protocol."""
        return self.views[0]

    def explanation_at(self, step: int) -> WrongAnswer | None:
        """Return the explanation of the trace's answer after a step, or None if the answer is right."""
        number = (value_at(self.own.answers, step) or NO_ANSWER).explanation
        return None if number is None else self.own.explanations[number]

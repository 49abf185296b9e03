"""What lockstep must know of one mechanism of the model: the engine calls and the Hudi calls that perform each action,
the options that the engine refuses, the options that leave no trace on a table, and how the mechanism is drawn.

Each mechanism, and each module of the kernel and each variant that declares a `MECHANISM`, has one file in
`mechanisms`, named as its file in the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from nbcc.model import World
from nbcc.model.kernel.publication import publication_actions
from nbcc.model.machine.mechanism import Kind
from nbcc.model.machine.options import Limits, Options

from .control.conductor import RETURN

CRASH: Final = "crash"
FAULT: Final = "fault"
SPARK: Final = "spark"

Constant = Callable[[World, str], object]
"""A function that computes an argument from the world and the actor's name."""


@dataclass(frozen=True, slots=True)
class PeerStep:
    """How the Hudi process (peer) performs one action of the model.

    ``call`` is the step of the Hudi process that performs the action. ``because`` states why the action needs no call
    or cannot be performed. ``takes`` is True if the action takes a time from the clock. If ``impossible`` is True, the
    peer cannot replay histories that contain this action.
    """

    call: str | None = None
    because: str = ""
    takes: bool = False
    impossible: bool = False


def calls(call: str, takes: bool = False) -> PeerStep:
    """Return the step of an action that a call of Hudi's client performs."""
    return PeerStep(call, takes=takes)


def no_call(because: str, takes: bool = False) -> PeerStep:
    """Return the step of an action that needs no call of its own."""
    return PeerStep(because=because, takes=takes)


def impossible(because: str) -> PeerStep:
    """Return the step of an action that Hudi's client cannot perform."""
    return PeerStep(because=because, impossible=True)


@dataclass(frozen=True, slots=True)
class MappingRow:
    """Maps one action of the model to a segment: the consecutive engine calls that perform the action.

    ``operation`` is the engine operation that makes these calls; ``starts`` is True if the action begins a new
    operation. A segment ends after the first call whose text (`Call.text`) is in ``ends_after``. Calls immediately
    after that call still belong to the segment if their text is in ``also``. The default value of ``ends_after``,
    RETURN, means all remaining calls of the operation. If ``before`` is not empty, the segment ends instead before a
    call whose text is in ``before``; it may then have no call. If ``in_vain`` is False, a put that finds its object
    there does not end the segment.

    ``arguments`` contains the name and the source of each argument of the operation. The source is a field of the
    actor's state in the model, or a function of the world and the actor's name. ``raises`` contains the errors with
    which the operation may end in this step. If ``always`` is True, the operation always ends with one of the errors in
    ``raises``. If ``operation`` is CRASH, the step crashes the actor. If ``operation`` is FAULT, the step changes the
    system (for example the lock expires) and involves no actor. If ``operation`` is SPARK, the step belongs to a
    Structured Streaming query, and `stream_step` executes it.

    ``hudi`` is the step of Apache Hudi; None: impossible, for the reason that the mechanism states
    (`Lockstep.hudi_cannot`).
    """

    action: str
    operation: str
    ends_after: str | tuple[str, ...] = RETURN
    also: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    in_vain: bool = True
    starts: bool = False
    arguments: tuple[tuple[str, str | Constant], ...] = ()
    raises: str | tuple[str, ...] = ""
    always: bool = False
    hudi: PeerStep | None = None


AFTER_LISTING: Final = ("get version", "get archive", "get restore.requested")
"""The calls that complete a listing of the timeline: the archive, and the plans of restores that it shows."""

LOOKS_FOR_ROLLBACKS: Final = ("get version", "get archive", "get rollback.requested", "get restore.requested")
"""The calls by which a writer that has listed the timeline checks whether its write was rolled back."""

INSTANT: Final = "instant"
"""The argument of an operation that names the plan to run."""


class ServiceLabel(NamedTuple):
    """How a table service is drawn. `barrier` is True if a plan of the service starts new file slices at its requested
    time.
    """

    word: str
    barrier: bool = False


FileStatus = Literal["hidden", "merged", "pending", "read"]
"""What a reader did with a file whose row is missing from the answer, or wrong in it."""


class Picture(NamedTuple):
    """Two sentences that explain why a reader uses or ignores a file. `did` states what happened because the option is
    weaker than the default. `right` states what happens with the option's default value.

    The placeholders {r} and {c} are the file's requested and completion times. {b} is a barrier or a base file. {T} is
    the time of an as-of read. {other} is the row with which the file's row is compared, and {o} is its requested time.
    {at} and {seen} contain the completion time of that row.
    """

    did: str
    right: str


Names = tuple[str, ...]

OWN: Final[Names] = ("*",)
"""All names of the mechanism in whose file a feature is, and of the mechanisms that it includes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One feature of Hudi, with the parts of nbcc that implement or test it (docs/mechanisms.md).

    `about` and `source` describe what a user gets, of all parts of nbcc. The docstring of the mechanism's module in the
    model describes what happens in the model, so a mechanism has no second sentence there.

    `model` lists the feature's actions in the model. `options` lists the protocol options and, with the prefix
    `world.`, the world limits that configure the feature. `includes` names other mechanisms whose actions, options and
    limits belong to the feature as well.

    `engine` lists the engine's table operations or functions (`module:function`) that implement the feature.
    `engine_refuses` is the text of the engine's refusal if the engine does not implement the feature. `hudi` lists the
    steps or query kinds that exercise the feature on Apache Hudi. `hudi_impossible` is the reason why nbcc cannot run
    the feature on Apache Hudi. `verdicts` lists protocols that weaken the feature; their verdicts show which promises
    then break. `trace` names a run in the gallery that shows the feature. `boundary` is a phrase from the feature's
    line in specs/boundary.md.
    """

    name: str = field(kw_only=False)
    about: str
    source: str
    model: Names = OWN
    options: Names = OWN
    includes: Names = ()
    engine: Names = ()
    engine_refuses: str = ""
    hudi: Names = ()
    hudi_impossible: str = ""
    mutants: Names = ()
    verdicts: Names = ()
    promises: Names = ()
    trace: str = ""
    boundary: str = ""


class Runs(NamedTuple):
    """The instants that a kind of actor puts on the timeline.

    `begins` requests the instant or puts the plan, and `inflight` puts the inflight instant. `publishes` is the engine
    operation that publishes. `hudi` contains the steps of Apache Hudi for the three actions of the publication.
    """

    kind: Kind
    begins: MappingRow
    inflight: MappingRow
    publishes: str
    hudi: tuple[PeerStep | None, ...] = (None, None, None)

    def rows(self) -> Iterator[MappingRow]:
        yield from (self.begins, self.inflight)
        ends = ("lock.acquire", "clock.take", RETURN)
        for action, end, step in zip(publication_actions(self.kind.name), ends, self.hudi, strict=True):
            yield MappingRow(action.name, self.publishes, ends_after=end, hudi=step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lockstep:
    """What lockstep must know of one mechanism.

    `features` describes the mechanism to users: one feature of Hudi, or several that the mechanism serves.

    `runs` describes the instants of the mechanism's actors, and `rows` maps its other actions. `refines` yields rows
    for the actors of other mechanisms; only rows for actions of this mechanism count. `hudi_cannot` is the
    reason why Apache Hudi cannot perform an action whose row has no step of Hudi; "": the reason of the actor's own
    mechanism.

    `without_actors` is the reason why the engine has no actors of the mechanism's kinds; "": it has them.

    `refuses` maps options and limits with one value that the engine does not support to what the engine does instead.
    `traceless` is the reason why the options leave no trace on a table: the times, plans and file names that `nbcc
    validate` replays are the same under every value, so it replays them under the default value. "": the options leave
    a trace. A segment in these reasons is a part of a table's history (audit/segments.py). `traced` names the options
    that leave one all the same. (`Feature.trace` is something else: a stored run.)

    `pictures` maps options with one value to the sentences of a picture. `explains` maps the status of a file to the
    options that can cause it, with a rank: 1 is the likeliest cause among the options of all mechanisms.

    `service` is the label of the mechanism's actors in pictures. `examples` contains pairs of protocol and world for
    actions that no run under the default protocol takes.
    """

    features: tuple[Feature, ...] = ()
    runs: Runs | None = None
    rows: tuple[MappingRow, ...] = ()
    refines: Callable[[Runs], Iterator[MappingRow]] | None = None
    hudi_cannot: str = ""
    without_actors: str = ""
    refuses: Mapping[Options | Limits, str] = field(default_factory=dict)
    traceless: str = ""
    traced: Names = ()
    pictures: Mapping[Options, Picture] = field(default_factory=dict)
    explains: Mapping[FileStatus, Mapping[str, int]] = field(default_factory=dict)
    service: ServiceLabel | None = None
    examples: tuple[tuple[str, str], ...] = ()

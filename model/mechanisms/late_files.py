"""Models late files: a task may outlive its crashed writer, and put the write's next log file.

A late file may appear before a rollback, during a rollback, or after the rolled-back instant has been removed from the
timeline. A late file is named like any file of the write, but is not listed in any completed instant.
"""

from __future__ import annotations

from ..kernel.writer import PUTS_FILE, Writer, next_log
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, limit
from ..machine.transition import DEAD, Action, Changes, Guard, limit_left, transition
from ..world import World
from .rollback.heartbeat import renewing

LATE_FILE_LANDS = "late_file_lands"


class LateFiles(Limits):
    """The limit on the number of files that appear after their writer has crashed."""

    late_files: int = limit(0, "how often a task of a dead writer puts the next file of its write")


def compose(composition: Composition) -> None:
    """Add the transition by which a late file appears, for writers whose writes can be rolled back."""
    if not composition.world[LateFiles].late_files:
        return
    composition.add_component("late_files", 0)
    for me in renewing(composition):
        composition.add(transition(LATE_FILE_LANDS, me, guards=(DIED_WRITING, LATE_FILE_LEFT), effect=land,
                                   arguments=next_log, changes=("own", "late_files"), tags=(PUTS_FILE,)))  # fmt: skip


def died_writing(own: Writer, me: str, world: World) -> bool:
    return own.step == DEAD and own.inflight and own.files < len(world.files(me, own.number))


DIED_WRITING = Guard("{me} must have died while its tasks wrote", died_writing)
LATE_FILE_LEFT = limit_left("a late file must be left", "late_files", lambda world: world[LateFiles].late_files)


def land(own: Writer, late_files: int) -> Changes:
    """Let a surviving task of a crashed writer put the next file of the write."""
    return {"own": own._replace(files=own.files + 1), "late_files": late_files + 1}


MECHANISM = Mechanism(
    compose=compose,
    limits=LateFiles,
    service=True,
    actions=(
        Action(LATE_FILE_LANDS, "a task of a dead writer puts the next file of its write",
               "a task of the dead {actor} puts log version {version} of group {group}"),
    ),
)  # fmt: skip

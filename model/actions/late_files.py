"""Late files: tasks of a writer that died do not die with it, and put the next of its files when they come to it.

Before anybody looks, while a rollback is under way, or long after the write has left the timeline. The file announces
itself by a marker as any other; nobody's commit will ever list it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..machine.transition import Action, Changes, Guard, Transition, transition
from ..mechanisms.shared_logs import appending
from ..world import World
from . import Setting
from .writer import Writer, beating, next_log

SERVICE = True
ACTIONS = (
    Action("late_file_lands", "a task of a dead writer puts the next file of its write",
           "a task of {actor}, who died, puts log version {version} of group {group}"),
)  # fmt: skip


def components(setting: Setting) -> dict[str, Any]:
    return {"late_files": 0} if setting.world.late_files else {}


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in beating(setting) if setting.world.late_files else ():
        lands = transition("late_file_lands", me, guards=(DIED_WRITING, LATE_FILE_LEFT), effect=land,
                           arguments=next_log, changes=("own", "late_files"))  # fmt: skip
        yield appending(setting, lands)


def died_writing(own: Writer, me: str, world: World) -> bool:
    return own.dead and own.inflight and own.files < len(world.files(me, own.number))


def late_file_is_left(late_files: int, world: World) -> bool:
    return late_files < world.late_files


DIED_WRITING = Guard("{me} must have died while its tasks wrote", died_writing)
LATE_FILE_LEFT = Guard("a late file must be left", late_file_is_left, limit=True)


def land(own: Writer, late_files: int) -> Changes:
    """A task of a dead writer puts the next file."""
    return {"own": own._replace(files=own.files + 1), "late_files": late_files + 1}

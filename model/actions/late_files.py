"""Late files: tasks of a writer that died do not die with it, and put the next of its files when they come to it.

Before anybody looks, while a rollback is under way, or long after the write has left the timeline. The file announces
itself by a marker as any other; nobody's commit will ever list it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..files.shared_log import appending
from ..step import Action, Args, Guard, Row
from . import Setting
from .writer import Writer, beating

SERVICE = True
ACTIONS = (
    Action("late_file_lands", "a task of a dead writer puts the next file of its write",
           "a task of {actor}, who died, puts log version {version} of group {group}"),
)  # fmt: skip


def components(setting: Setting) -> dict[str, Any]:
    return {"late_files": 0} if setting.world.late_files else {}


def rows(setting: Setting) -> Iterator[Row]:
    world = setting.world
    left = Guard("a late file must be left", lambda own, late: late < world.late_files, budget=True)
    for me in beating(setting) if world.late_files else ():

        def more(own: Writer, me: str = me) -> bool:
            return own.dead and own.inflight and own.files < len(world.files(me, own.number))

        def next_file(own: Writer, late: int, me: str = me) -> Iterable[Args]:
            group, version = world.files(me, own.number)[own.files]
            return ((("group", group), ("version", version)),)

        writing = Guard(f"{me} must have died while its tasks wrote", more)
        yield appending(setting, Row(
            "late_file_lands", me, (me, "late_files"), (me, "late_files"), (writing,),
            lambda own, late, group, version: (own._replace(files=own.files + 1), late + 1), (left,), next_file,
        ))  # fmt: skip

"""Cleaning deletes the files that are needed only by reads before the horizon (the oldest completion time that can be
read).

Under the lock, a cleaner makes a plan that contains the files to delete and the horizon. Once the plan is on the
timeline, reads before the horizon are refused, whether or not the planned files have been deleted. A cleaner that
resumes a pending plan deletes the remaining files of the plan; an absent file is not an error.

    The module `cleaner` defines the actor that plans and runs cleans. The module `reads` defines how readers and
    compactors react to deleted files.
"""

from __future__ import annotations

from ...kernel.publication import publication_actions
from ...machine.composition import Composition
from ...machine.mechanism import Mechanism
from ...machine.transition import Action
from ...validation import whole_number
from ...world import World
from . import cleaner, reads
from .options import Cleaning, Cleans
from .rules import refine


def compose(composition: Composition) -> None:
    """Add cleaners to the model, and let readers and compactors handle deleted files."""
    if composition.actors_of("cleaner"):
        cleaner.compose(composition)
        reads.compose(composition)


def check(world: World) -> None:
    """Raise ValueError if the world has a cleaner and `commits_retained` is 0."""
    least = int(world.actors.get("cleaner", 0) > 0)
    whole_number(world[Cleans].commits_retained, "world: commits_retained", least=least)


MECHANISM = Mechanism(
    rules=refine,
    compose=compose,
    kinds=(cleaner.CLEANER,),
    options=Cleaning,
    limits=Cleans,
    check=check,
    service=True,
    actions=(
        Action("cleaner_schedules_clean", "under the lock: takes a requested time and puts the plan with its horizon",
               "{actor} schedules a clean"),
        Action("cleaner_starts_clean", "puts the inflight instant of the clean it scheduled",
               "{actor} starts its clean"),
        Action("cleaner_deletes_files", "deletes the superseded files of one file group",
               "{actor} deletes the superseded files of group {group}", data_phase=True),
        *publication_actions("cleaner"),
    ),
)  # fmt: skip

"""Foreign services: another engine compacts a table, by its own rules of merging.

The plan notes whose engine runs it (`unmarked`: not ours): the runner decides by whose rules the base files are merged,
not the actor that made the plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..kernel.compactor import STARTS_PLAN
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice
from ..machine.transition import Changes
from ..protocol import Protocol
from ..table import Plan
from .crashes import RESUMES_PLAN


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignServices(Options):
    """Whose engine compacts, and how readers take what it leaves."""

    services: Literal["own", "foreign"] = choice(
        "own",
        "own: this engine compacts, and marks the base file; foreign: another engine compacts, merges by requested "
        "time, drops deletes and leaves no mark",
        by=("compactor",),
    )
    unmarked: Literal["by_its_maker", "by_the_table"] = choice(
        "by_its_maker",
        "how a file group is merged whose base file has no mark. by_its_maker: by the rules of the engine that made "
        "it, until this engine compacts; by_the_table: by the rules of the table",
    )


def compose(composition: Composition) -> None:
    """Mark the plans that another engine runs."""
    compactors = composition.of("compactor")
    if any(composition.protocol_of(me)[ForeignServices].services == "foreign" for me in compactors):
        composition.select(STARTS_PLAN, RESUMES_PLAN, actors=compactors).extend(note_engine, "plans")


def note_engine(own: Any, plans: tuple[Plan, ...], protocol: Protocol) -> Changes:
    """The runner of a plan notes whose engine it is."""
    foreign = protocol[ForeignServices].services == "foreign"
    return {"plans": tuple(plan._replace(unmarked=foreign) if plan.requested == own.plan else plan for plan in plans)}


MECHANISM = Mechanism(compose=compose, after=("added_columns", "crashes"), options=ForeignServices)

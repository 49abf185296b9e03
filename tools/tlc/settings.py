"""Generates the TLC configuration of specs/tla/Nbcc.tla, the equivalent TLA+ specification, for a world and a protocol.
"""

from __future__ import annotations

from nbcc.model import Protocol, World
from nbcc.model.mechanisms.clocks import Skew
from nbcc.model.mechanisms.crashes import Crashes, LockExpiry
from nbcc.model.mechanisms.rivals import PlanCheck
from nbcc.model.variants.completion import Completion
from nbcc.model.variants.scheduling import Scheduling
from nbcc.model.variants.slicing import Slicing

INVARIANTS = ("MONO", "PART", "LAWS", "SNAP", "PROGRESS")
"""The promises that the twin states. SNAP concerns files only, not rows."""
FAULTS = {
    "completion-time-not-new": "time_not_new",
    "plan-completed-twice": "plan_completed_twice",
    "plan-of-the-dead-stays": "plan_of_the_dead_stays",
    "lock-kept-after-publishing": "lock_kept",
    "lock-of-the-dead-stays": "lock_of_dead_compactor_stays",
    "plan-leaves-a-gap": "plan_takes_newest",
    "completion-not-found-by-planner": "planner_misses_one",
}
"""Mutants that the twin supports: file of specs/mutants -> the twin's constant Fault."""
KNOWN = ("slicing", "completion_time", "plan_takes", "scheduling", "plan_check", "lock_expiry")
SPELT = {"completed_before_barrier": "completed", "any_log": "any"}


SAME = "Same == Permutations(Writers) \\union Permutations(Compactors)"
"""The definitions of a symmetric configuration: actors of one kind may be exchanged."""


def configuration(
    world: World,
    protocol: Protocol,
    fault: str = "none",
    invariants: tuple[str, ...] = INVARIANTS,
    symmetric: bool = False,
) -> str:
    """Return the text of a TLC configuration. Raises `ValueError` if the TLA+ specification does not support the world
    (actors and limits) or the protocol.

    If `symmetric` is True, TLC uses symmetry reduction: actors of one kind are interchangeable.
    """
    unknown = sorted(protocol.differences().keys() - set(KNOWN))
    if unknown or protocol[Slicing].slicing == "base_instant":
        raise ValueError(f"the twin does not have the option {(unknown or ['slicing'])[0]}")
    others = sorted(kind for kind, count in world.actors.items() if count and kind not in ("writer", "compactor"))
    if others or world.writes or world.log_versions != 1 or world[Skew].skew:
        raise ValueError(f"the twin knows writers and compactors that write one file a group, not {others or 'this'}")
    constants = {
        "Writers": _names("w", world.actors.get("writer", 0), symmetric),
        "Compactors": _names("c", world.actors.get("compactor", 0), symmetric),
        "Groups": world.groups,
        "Writes": world.writes_per_writer,
        "Compactions": world.compactions,
        "Crashes": world[Crashes].crashes,
        "SliceBy": f'"{protocol[Slicing].slicing}"',
        "TimeTaken": f'"{protocol[Completion].completion_time}"',
        "PlanTakes": f'"{SPELT[protocol[Scheduling].plan_takes]}"',
        "Scheduling": f'"{protocol[Scheduling].scheduling}"',
        "PlanCheck": f'"{protocol[PlanCheck].plan_check}"',
        "LocksExpire": str(protocol[LockExpiry].lock_expiry == "expires").upper(),
        "Fault": f'"{fault}"',
    }
    if symmetric:
        own = [name for kind in ("Writers", "Compactors") for name in str(constants[kind]).strip("{}").split(", ")]
        constants |= {name: name for name in own}
    lines = ["CONSTANTS", *(f"    {name} = {value}" for name, value in constants.items()), "INIT Init", "NEXT Next"]
    lines += ["SYMMETRY Same"] * symmetric
    return "\n".join([*lines, *(["INVARIANTS", *(f"    {name}" for name in invariants)] if invariants else [])]) + "\n"


def _names(prefix: str, count: int, values: bool) -> str:
    quote = "" if values else '"'
    return "{" + ", ".join(f"{quote}{prefix}{i + 1}{quote}" for i in range(count)) + "}"

"""Defines what readers and compactors do if a clean has deleted a file that they need."""

from __future__ import annotations

from itertools import chain
from math import inf

from ...kernel.compactor import READS_INPUT, Compactor
from ...kernel.reader import Reader
from ...kernel.table import Plan, Table
from ...kernel.timeline import Published
from ...machine.composition import Composition
from ...machine.transition import Changes, Guard
from ...rules import Rules
from ...world import World
from .rules import Clean, DataFile, needed, published_horizon, taken_files


def compose(composition: Composition) -> None:
    """A read ends without an answer if a clean has deleted a file that the read needs. A compactor stops if a clean has
    deleted an input file of the compaction plan.
    """
    composition.find("reader_reads").divert(misses_file, end_without_answer)
    # Only a clean that breaks its promise deletes a file of a pending plan.
    composition.find(READS_INPUT, actors=composition.actors_of("compactor")).require(INPUT_IS_THERE)


def misses_file(own: Reader, kept_table: Table, deleted: frozenset[DataFile], world: World, rules: Rules) -> bool:
    """True if a clean has deleted a file that the read needs."""
    opened = (needed(rules, kept_table, group, inf) for group in range(world.groups))
    return not deleted.isdisjoint(chain.from_iterable(opened))


def end_without_answer(own: Reader, cleans: tuple[Clean, ...], published: Published, rules: Rules) -> Changes:
    """End a read that needs a deleted file. The reader ends in the step "refused" if its time is before the cleaning
    horizon, and otherwise in "lost".
    """
    behind = own.time < published_horizon(rules, cleans, published)
    return {"own": own._replace(step="refused" if behind else "lost")}


def inputs_are_there(own: Compactor, plans: tuple[Plan, ...], deleted: frozenset[DataFile]) -> bool:
    parts = (plan.part_in(own.group) for plan in plans if plan.requested == own.plan)
    return all(part is not None and deleted.isdisjoint(taken_files(part)) for part in parts)


INPUT_IS_THERE = Guard("the files that the plan takes must be there", inputs_are_there)

"""Computes the file slices for the planning of table services, and forgets the commits that no later plan needs."""

from __future__ import annotations

from ..context import Context
from ..files.retirement import not_needed
from ..files.slices import FileSlice, load_slices
from ..rules import Rules
from ..timeline.history import Current


def current_slices(context: Context, timeline: Current, rules: Rules | None = None) -> tuple[FileSlice, ...]:
    """Return the slices that reads since the newest clean use. `rules` are the planner's; by default, the table's.

    A service that runs for months plans often. Each planning has decoded the commits of `timeline`, so it is also the
    time at which the process can forget those that no later plan needs.
    """
    rules = rules or context.rules
    slices = load_slices(context.storage, timeline, context.commits, rules)
    context.commits.retire(not_needed(timeline, context.commits, slices, rules), timeline)
    return slices

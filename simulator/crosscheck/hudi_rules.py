"""Where Apache Hudi 1.2.0 differs from every setting of the model: by name, with the condition under which it does."""

from __future__ import annotations

from typing import Final

from .disagreement import Disagreement
from .history import History

STRAY: Final = "committed logs hidden behind the base file of a pending bulk insert"
HIDDEN: Final = "committed logs hidden behind the older log of a pending write (apache/hudi#19774)"


def explained(history: History, disagreement: Disagreement) -> str | None:
    """The name of the disagreement, if it is known and the history meets its condition.

    HIDDEN: a file group without base file and plan begins with the log of a write that is pending, requested after the
    first completed instant; Hudi keys the slice by that log, takes the slice for uncommitted, and shows none of its
    logs. What the system says must then be less than what the model says.
    STRAY: a bulk insert that is not completed has put its base file into the group; Hudi takes its slice for
    uncommitted.
    """
    difference = disagreement.difference
    if not isinstance(difference.system, tuple) or difference.system:
        return None
    groups = range(history.model.world.groups)
    if any(_hidden(history, group) for group in groups):
        return HIDDEN
    return STRAY if any(_begun(history, group) for group in groups) else None


def _begun(history: History, group: int) -> bool:
    """Whether a bulk insert has put a base file of the group that is not completed."""
    model = history.model
    loaders = (model.component(history.state, name) for name in model.setting.of("loader"))
    return any(loader.requested and group in loader.bases and loader.files for loader in loaders)


def _hidden(history: History, group: int) -> bool:
    if any(plan.of(group) for plan in history.model.table(history.state).plans):
        return False
    done = {requested for _, _, requested, completed in history.timeline if completed}
    here = sorted(
        requested
        for action, state, requested, _ in history.timeline
        if action == "deltacommit" and state != "requested" and any(g == group for g, _ in history.data[requested])
    )
    return len(here) > 1 and here[0] not in done and bool(done & {*here}) and here[0] > min(done)

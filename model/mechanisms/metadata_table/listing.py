"""How an actor commits the files of its instant to the metadata table.

`metadata_commit = after_data`: the instant completes first. `metadata_lock = outside_lock`: the actor commits before it
takes the lock, so that two may do so at once. `metadata_again = refused`: an instant that the table already has is an
error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from ...actions import Setting
from ...kernel.lock import released
from ...machine.transition import Changes, Choice, Effect, Transition, given, transition
from . import MetadataOptions, MetadataTable

UNLISTED = "about to list its files"
BEGUN = "listing its files"
TOLD = "sure that its files are listed"
PUBLISHED = "published, its files not listed"


def listing(setting: Setting) -> Literal["", "before the data", "after the data", "before the lock"]:
    """When a publishing actor commits to the metadata table; '' without one."""
    if not setting.world.metadata_table:
        return ""
    if setting.protocol[MetadataOptions].metadata_commit == "after_data":
        return "after the data"
    return "before the data" if setting.protocol[MetadataOptions].metadata_lock == "under_lock" else "before the lock"


def step_before(setting: Setting, ready: str) -> str:
    """The step to which the completion time leads: that from which it publishes, or tells the metadata table."""
    return UNLISTED if listing(setting) == "before the data" else ready


class Telling(NamedTuple):
    """An actor that tells the metadata table what its instant does; the fields are those of `publication`."""

    me: str
    setting: Setting
    publish: Callable[[Any], tuple[Any, Any]]
    requested: str
    undone: str


def listing_transitions(tells: Telling, since: str, *, then: Effect) -> Iterator[Transition]:
    """The transitions by which an actor tells the metadata table, from the step `since` on.

    `then` is the effect on the actor when it has done so. If the data table was told first, the last of them releases
    the lock.
    """
    begin = given(begin_listing, field=tells.requested)
    begins = transition("actor_begins_metadata", tells.me, at=since, effect=begin, changes=("own", "metadata"))
    if tells.setting.protocol[MetadataOptions].metadata_again == "refused":
        known = given(is_listed, field=tells.requested)
        gives_up = (given(give_up_listing, publish=tells.publish),)
        begins = transition("actor_begins_metadata", tells.me, at=since, changes=("own", "metadata", "lock"),
                            effect=Choice(known, gives_up, (begin,)))  # fmt: skip
    yield begins
    commit = given(commit_listing, field=tells.requested, undone=tells.undone)
    commits = transition("actor_commits_metadata", tells.me, at=BEGUN, effect=commit, changes=("own", "metadata"))
    commits = commits.extend(then)
    yield commits.extend(release_after_listing, "lock") if since == PUBLISHED else commits


def begin_listing(own: Any, metadata: MetadataTable, field: str) -> Changes:
    """Begin a deltacommit of the instant in the metadata table, and roll back what is found begun there."""
    return {"own": own._replace(step=BEGUN), "metadata": metadata.begin(getattr(own, field))}


def commit_listing(own: Any, metadata: MetadataTable, field: str, undone: str) -> Changes:
    """Complete that deltacommit: the files are listed."""
    return {"metadata": metadata.commit(getattr(own, field), getattr(own, undone) if undone else 0)}


def release_after_listing(lock: str | None, me: str) -> Changes:
    return {"lock": released(lock, me)}


def is_listed(own: Any, metadata: MetadataTable, field: str) -> bool:
    """Whether the metadata table has the instant already (`metadata_again = refused`: an error)."""
    return getattr(own, field) in metadata.listed


def give_up_listing(own: Any, me: str, lock: str | None, publish: Callable[[Any], tuple[Any, Any]]) -> Changes:
    """The actor gives up: the data table will never have its instant."""
    return {"own": publish(own)[0], "lock": released(lock, me)}

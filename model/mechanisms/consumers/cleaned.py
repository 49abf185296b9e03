"""Defines how a consumer reacts if a clean has deleted files of its window."""

from __future__ import annotations

from collections.abc import Iterable

from ...kernel.table import Write
from ...kernel.timeline import Published
from ...machine.composition import Composition
from ...machine.transition import Changes
from ...protocol import Protocol
from ...rules import Rules
from ..bulk_insert.rules import loaded
from ..cleaning.rules import Clean, DataFile, published_horizon
from .consumer import LISTS_WINDOW, READABLE, Consumer
from .options import Consumers

Cleans = tuple[Clean, ...]


def compose(composition: Composition) -> None:
    """Let a consumer skip a window that begins before the cleaning horizon, or that needs deleted files."""
    composition.map_view(READABLE, readable_writes)
    composition.select(LISTS_WINDOW).extend(note_horizon)
    composition.select("consumer_reads_window").divert(cannot_be_read, end_unread)


def note_horizon(own: Consumer, cleans: Cleans, published: Published, rules: Rules) -> Changes:
    """Record whether the window begins before the cleaning horizon in the consumer's listing."""
    return {"own": own._replace(behind=own.after < published_horizon(rules, cleans, published))}


def readable_writes(
    own: Consumer, readable_writes: tuple[int, ...], published: Published, deleted: frozenset[DataFile]
) -> tuple[int, ...]:
    """The view `readable_writes`: omit each write that has lost a file to a clean."""
    writes = (entry for entry in published if isinstance(entry, Write) and entry.requested in own.kept)
    gone = {write.requested for write in writes if not deleted.isdisjoint(files_of(write))}
    return tuple(requested for requested in readable_writes if requested not in gone)


def cannot_be_read(
    own: Consumer, readable_writes: tuple[int, ...], cleans: Cleans, published: Published, protocol: Protocol,
    rules: Rules,
) -> bool:  # fmt: skip
    if _is_behind(own, readable_writes, cleans, published, rules):
        return protocol[Consumers].behind_horizon != "skipped"
    return readable_writes != own.kept


def end_unread(
    own: Consumer, readable_writes: tuple[int, ...], cleans: Cleans, published: Published, rules: Rules
) -> Changes:
    """End a window without reading it. A skipped window counts as refused if it begins before the horizon; otherwise
    its files count as lost.
    """
    behind = _is_behind(own, readable_writes, cleans, published, rules)
    return {"own": own._replace(step="refused" if behind else "lost")}


def _is_behind(own: Consumer, readable: tuple[int, ...], cleans: Cleans, published: Published, rules: Rules) -> bool:
    """True if the window begins before the horizon of its listing. If a file is missing, also True if the window begins
    before the present horizon.
    """
    return own.behind or (readable != own.kept and own.after < published_horizon(rules, cleans, published))


def files_of(write: Write) -> Iterable[DataFile]:
    versions = ((group, 0 if group in loaded(write) else version) for group, version in write.files)
    return (DataFile(group, write.requested, version) for group, version in versions)

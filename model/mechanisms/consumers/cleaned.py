"""Defines what a consumer does if a clean has deleted files of the consumer's incremental window."""

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
    """Let a consumer abandon an incremental window that begins before the cleaning horizon or needs deleted files."""
    composition.map_view(READABLE, readable_writes)
    composition.select(LISTS_WINDOW).extend(note_horizon)
    composition.select("consumer_reads_window").divert(cannot_be_read, end_unread)


def note_horizon(own: Consumer, cleans: Cleans, published: Published, rules: Rules) -> Changes:
    """Record whether the incremental window begins before the cleaning horizon."""
    return {"own": own._replace(behind=own.after < published_horizon(rules, cleans, published))}


def readable_writes(
    own: Consumer, readable_writes: tuple[int, ...], published: Published, deleted: frozenset[DataFile]
) -> tuple[int, ...]:
    """Redefine the view `readable_writes` to omit each write of which a clean has deleted a file."""
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
    """Stop processing an incremental window without reading it. If the window begins before the cleaning horizon, the
    consumer moves to the step "refused". If only deleted files prevent the read, the consumer moves to the step "lost".
    """
    behind = _is_behind(own, readable_writes, cleans, published, rules)
    return {"own": own._replace(step="refused" if behind else "lost")}


def _is_behind(own: Consumer, readable: tuple[int, ...], cleans: Cleans, published: Published, rules: Rules) -> bool:
    return own.behind or (readable != own.kept and own.after < published_horizon(rules, cleans, published))


def files_of(write: Write) -> Iterable[DataFile]:
    versions = ((group, 0 if group in loaded(write) else version) for group, version in write.files)
    return (DataFile(group, write.requested, version) for group, version in versions)

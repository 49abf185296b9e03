"""Consumers: they read windows of what was written, and keep as checkpoint where the next one begins (RFC-22).

A window begins at the checkpoint and ends at the greatest completion that the first listing shows; the second listing
shows everything up to there. What was read and the checkpoint are stored together, so that a death in between delivers
nothing twice. RFC-22, "Incremental reads", asks how a checkpoint gets past writers that are under way: option 1 reads
everything and moves it up to the oldest of them, option 2 reads no further than that, option 3 goes by completion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

from ..kernel.table import DataFile, Write
from ..machine.transition import Action, Changes, Guard, Transition, transition
from ..mechanisms.bulk_insert import loaded
from ..mechanisms.cleaning import Clean, published_horizon
from ..mechanisms.restores import hides, is_gone
from ..protocol import Protocol
from ..reads.listing import Restores
from ..rules import rules_of
from ..world import World
from . import Setting

Published = tuple[Any, ...]
Cleans = tuple[Clean, ...]

KIND, PREFIX = "consumer", "k"
IN_RANDOM_WORLDS = 1
ACTIONS = (
    Action("consumer_takes_window", "lists the timeline; its window ends at the newest that it sees",
           "{actor} takes a window"),
    Action("consumer_lists_window", "lists again, and knows all that completed in the window",
           "{actor} lists its window"),
    Action("consumer_reads_window", "reads the window and stores, with what it read, its new checkpoint",
           "{actor} reads its window and stores the checkpoint"),
)  # fmt: skip


class Consumer(NamedTuple):
    """`checkpoint` is stored; `after` and `until` bound the window that it reads or has read last, `kept` holds the
    requested times of the writes in it. `delivered`: those of all windows so far; `again`: one that came out twice.

    `store`: the checkpoint that it will store; `behind`: the window begins before the horizon that it knows of;
    `undone`: or among what a restore has undone.
    """

    step: str = "idle"
    checkpoint: int = 0
    after: int = 0
    until: int = 0
    store: int = 0
    kept: tuple[int, ...] = ()
    behind: bool = False
    delivered: tuple[int, ...] = ()
    again: int = 0
    windows: int = 0
    dead: bool = False
    undone: bool = False

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step not in ("idle", *ENDS)


ENDS = ("refused", "lost")
"""How a window ends that is not read: refused if it begins before the horizon, lost if its files are gone without."""


def time_of(entry: Any, protocol: Protocol) -> int:
    """The time of a completed instant on the axis that windows go by."""
    time: int = entry.completed if protocol.incremental_axis == "completion" else entry.requested
    return time


def newest(published: tuple[Any, ...], protocol: Protocol, restores: Restores) -> int:
    """The greatest time that a listing shows; nothing completes any more at or before a restore's request."""
    return max((*(time_of(entry, protocol) for entry in published), *(r.requested for r in restores)), default=0)


def oldest_pending(published: tuple[Any, ...], writers: tuple[Any, ...]) -> float:
    """The requested time of the oldest write that is under way."""
    done = {entry.requested for entry in published}
    return min((w.requested for w in writers if w.requested and w.requested not in done), default=inf)


def bounds(
    own: Consumer, published: tuple[Any, ...], writers: tuple[Any, ...], protocol: Protocol, restores: Restores = ()
) -> tuple[int, int]:
    """Where the window ends and which checkpoint is stored after it."""
    end = newest(published, protocol, restores)
    if protocol.checkpoint == "end_of_window":
        return end, end
    safe = max(own.checkpoint, int(min(end, oldest_pending(published, writers) - 1)))
    return (safe, safe) if protocol.checkpoint == "fenced" else (end, safe)


def components(setting: Setting) -> dict[str, Any]:
    return {me: Consumer() for me in setting.of(KIND)}


def transitions(setting: Setting) -> Iterator[Transition]:
    by_pending = setting.protocol.checkpoint != "end_of_window"
    for me in setting.of(KIND):
        shown = Guard("something must have completed since the checkpoint of {me}",
                      completed_before_pending if by_pending else completed_since)  # fmt: skip
        take = take_window_before_pending if by_pending else take_window
        takes = transition("consumer_takes_window", me, at="idle", to="listing",
                           guards=(WINDOW_LEFT, shown), effect=take)  # fmt: skip
        # If readers list once, the listing that gives the end of the window is the one whose writes are read.
        yield replace(takes.extend(list_window), to="reading") if setting.protocol.listing == "once" else takes
        yield transition("consumer_lists_window", me, at="listing", to="reading", effect=list_window)
        yield transition("consumer_reads_window", me, at="reading", effect=read_window)


def window_is_left(own: Consumer, world: World) -> bool:
    return own.windows < world.windows


WINDOW_LEFT = Guard("{me} must have a window left", window_is_left, limit=True)


def completed_since(own: Consumer, published: Published, protocol: Protocol, restores: Restores = ()) -> bool:
    return bounds(own, published, (), protocol, restores)[0] > own.checkpoint


def completed_before_pending(
    own: Consumer, published: Published, protocol: Protocol, every_writer: Mapping[str, Any],
    every_loader: Mapping[str, Any], restores: Restores = (),
) -> bool:  # fmt: skip
    return bounds(own, published, _writing(every_writer, every_loader), protocol, restores)[0] > own.checkpoint


def take_window(own: Consumer, published: Published, protocol: Protocol, restores: Restores = ()) -> Changes:
    """List the timeline: the window ends at the newest completion that the listing shows."""
    return {"own": _window(own, *bounds(own, published, (), protocol, restores))}


def take_window_before_pending(
    own: Consumer, published: Published, protocol: Protocol, every_writer: Mapping[str, Any],
    every_loader: Mapping[str, Any], restores: Restores = (),
) -> Changes:  # fmt: skip
    """The same, by RFC-22's options 1 and 2: the oldest pending write bounds the checkpoint, or the window itself."""
    return {"own": _window(own, *bounds(own, published, _writing(every_writer, every_loader), protocol, restores))}


def list_window(
    own: Consumer, published: Published, protocol: Protocol, cleans: Cleans | None = None, restores: Restores = ()
) -> Changes:
    """List again: all that completed in the window is there."""
    return {"own": _listed(own, published, protocol, cleans, restores)}


def read_window(
    own: Consumer, published: Published, protocol: Protocol, cleans: Cleans = (),
    deleted: frozenset[DataFile] = frozenset(), restores: Restores = (),
) -> Changes:  # fmt: skip
    """Read the window and store the new checkpoint with what was read.

    If a file is gone and the horizon does not explain it, the window is lost. If the horizon does, the read is refused,
    or (`behind_horizon = skipped`) goes on with what is left.
    """
    if own.undone or any(is_gone(restores, requested) for requested in own.kept):
        return {"own": own._replace(step="refused")}
    gone = {entry.requested for entry in _writes(own, published) if not deleted.isdisjoint(files_of(entry))}
    behind = own.behind or (bool(gone) and own.after < published_horizon(rules_of(protocol), cleans, published))
    if behind and protocol.behind_horizon != "skipped":
        return {"own": own._replace(step="refused")}
    if gone and not behind:
        return {"own": own._replace(step="lost")}
    return {"own": delivered(own, tuple(requested for requested in own.kept if requested not in gone))}


def _writing(writers: Mapping[str, Any], loaders: Mapping[str, Any]) -> tuple[Any, ...]:
    return (*writers.values(), *loaders.values())


def _window(own: Consumer, until: int, store: int) -> Consumer:
    return own._replace(after=own.checkpoint, until=until, store=store, kept=())


def _listed(
    own: Consumer, published: tuple[Any, ...], protocol: Protocol, cleans: Cleans | None, restores: Restores
) -> Consumer:
    """The consumer once it knows which writes its window holds, and whether the window begins before the horizon, or
    where a restore has undone what it has read."""
    if restores and protocol.checkpoint == "end_of_window":  # up to a restore's request all is settled
        own = own._replace(until=max(own.until, restores[-1].requested), store=max(own.store, restores[-1].requested))
    inside = (e for e in published if isinstance(e, Write) and own.after < time_of(e, protocol) <= own.until)
    kept = tuple(sorted(entry.requested for entry in inside))
    behind = cleans is not None and own.after < published_horizon(rules_of(protocol), cleans, published)
    undone = rests_on_undone(restores, own.after, own.until)
    return own._replace(kept=kept, behind=behind, undone=undone)


def rests_on_undone(restores: Restores, after: int, until: int) -> bool:
    """Whether a window begins or ends among what a restore has undone."""
    return any(hides(restores, time) for time in (after, until))


def delivered(own: Consumer, read: tuple[int, ...]) -> Consumer:
    """The consumer after a window of which it has read these writes."""
    again = next((requested for requested in read if requested in own.delivered), own.again)
    every = tuple(sorted({*own.delivered, *read}))
    return own._replace(step="idle", checkpoint=own.store, kept=read, delivered=every, again=again,
                        windows=own.windows + 1)  # fmt: skip


def files_of(write: Write) -> frozenset[DataFile]:
    """The data files of a write."""
    versions = ((group, 0 if group in loaded(write) else version) for group, version in write.files)
    return frozenset(DataFile(group, write.requested, version) for group, version in versions)


def _writes(own: Consumer, published: tuple[Any, ...]) -> Iterator[Write]:
    return (entry for entry in published if isinstance(entry, Write) and entry.requested in own.kept)

"""Models file ids that are not determined by the bucket of a key. With such file ids, a bucket may have several file
groups, and a key may have several current rows.

RFC-66 requires that all writers use the same file group for a key. If buckets do not determine file ids, two writers
that both find a bucket empty start two file groups with new file ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

from ..kernel.table import Write
from ..kernel.writer import REQUESTS, WRITER, Writer
from ..machine.composition import Composition
from ..machine.marks import mark
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.transition import Changes, preset
from ..world import World


class FileIds(Options):
    """The options that decide how a write chooses file ids."""

    file_ids: Literal["fixed", "generated"] = option(
        "fixed",
        "fixed: the bucket determines the file id. generated: a writer that finds no file group in a bucket begins one "
        "with a new id",
    )
    bucket_count: Literal["of_table", "own"] = option(
        "of_table",
        "of_table: a writer hashes keys into the number of buckets that the table has. own: into a number that its "
        "own options state",
        by=(WRITER.name,),
    )


class NewFileIds(NamedTuple):
    """A record attached to a write: the file ids that are not determined by buckets, as pairs (bucket, file id)."""

    ids: tuple[tuple[int, int], ...] = ()
    kind: str = "minted ids"


def new_file_ids(write: Write) -> tuple[tuple[int, int], ...]:
    """Return those file ids of a write that are not determined by buckets, as pairs (bucket, file id)."""
    return mark(write, NewFileIds).ids if write.marks else ()


Ids = tuple[tuple[int, int], ...]
"""(group, file id) where the bucket does not fix the id. The id 0 is the fixed one."""

FIXED = NewFileIds()
"""The file ids of a write whose buckets fix them."""

Groups = Callable[[World, str, Any], tuple[int, ...]]
"""(world, name of an actor, its state) -> the file groups of its write."""


def compose(composition: Composition) -> None:
    """Let writers choose file ids when they request an instant."""
    writers = composition.actors_of(WRITER)
    own = [me for me in writers if composition.protocol_of(me)[FileIds].bucket_count == "own"]
    if own or (writers and makes_file_ids(composition)):
        composition.add_field(WRITER, "file_ids", NewFileIds())
    if writers and makes_file_ids(composition):
        composition.select(REQUESTS, actors=writers).extend(preset(choose_file_ids, groups=groups_of), "own_file_ids")
    for me in own:  # another number of buckets: file ids that no other writer chooses
        composition.select(REQUESTS, actors=[me]).extend(name_own_buckets, "own_file_ids")


def makes_file_ids(composition: Composition) -> bool:
    """True if writers generate file ids (option `file_ids = generated`)."""
    return bool(composition.protocol[FileIds].file_ids == "generated")


def choose_file_ids(own: Any, me: str, world: World, published: tuple[Any, ...], groups: Groups) -> Changes:
    """Choose the file id last used in each bucket; for an empty bucket, a new file id."""
    ids = ((group, newest_id(published, group, own.requested)) for group in groups(world, me, own))
    return {"own_file_ids": NewFileIds(tuple(ids))}


def newest_id(published: Iterable[Any], group: int, requested: int) -> int:
    """Return the file id of the last published write in a bucket. If the bucket has no published write, `requested`,
    the requested time of the new write, serves as the file id.
    """
    found = requested
    for entry in published:
        if isinstance(entry, Write) and group in entry.groups:
            found = file_id_of(new_file_ids(entry), group)
    return found


def groups_of(world: World, me: str, own: Writer) -> tuple[int, ...]:
    return world.groups_of(me, own.number)


def name_own_buckets(own: Writer, me: str, world: World) -> Changes:
    """For each bucket of the write, choose a file id that no other writer uses."""
    number = int(me.removeprefix(WRITER.prefix))
    return {"own_file_ids": NewFileIds(tuple((group, -number) for group in world.groups_of(me, own.number)))}


def file_id_of(ids: Ids, group: int) -> int:
    """Return the file id under which a write puts files in a bucket; 0 stands for the id that the bucket determines."""
    return dict(ids).get(group, 0)


MECHANISM = Mechanism(compose=compose, after=("occ",), options=FileIds)

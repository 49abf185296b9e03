"""The data files of the attempts at one instant, which their markers name. A task or a plan may be run again, by the
same process or another, so an instant may have several attempts; its commit lists the files of one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..context import Context
from ..data.tasks import WrittenFile
from ..errors import Conflict
from ..file_names import marked_file, marker, marker_folder, split_path
from ..storage import Storage


def files_of_other_attempts(
    context: Context, requested: str, files: Sequence[WrittenFile], storage: Storage
) -> list[str]:
    """Return the data files that other attempts to complete the same instant have written.

    Raises `Conflict` if another attempt has deleted the markers of this attempt.
    """
    ours = {file.path for file in files}
    found = set(marked_files(context, requested, storage))
    if lost := sorted(ours - found):
        raise Conflict(
            f"publish the instant {requested}",
            f"another attempt at it has removed {len(lost)} of the files, the first being {lost[0]}",
            "run the operation again",
        )
    return sorted(found - ours)


def delete_other_attempts(context: Context, requested: str, paths: Sequence[str]) -> None:
    """Before an instant is published, delete the files that other attempts wrote for it.

    Readers that list directories must not find two files of one instant in a file group. A file's marker is deleted
    first, so that an attempt that is still running notices the deletion.
    """
    for path in paths:
        context.storage.delete(marker(requested, *split_path(path)))
        context.storage.delete(path)


def delete_own_files(context: Context, requested: str, files: Sequence[WrittenFile]) -> None:
    """Delete the files and markers of this attempt at an instant that another attempt has completed. The files of
    different attempts have different write tokens, so no committed file is deleted.
    """
    for file in files:
        context.storage.delete(file.path)
        context.storage.delete(marker(requested, *split_path(file.path)))


def marked_files(context: Context, requested: str, storage: Storage | None = None) -> list[str]:
    """Return the data files named by the markers of all attempts at an instant, whether or not the files exist."""
    entries = (storage or context.storage).list(marker_folder(requested))
    return [path for entry in entries if (path := marked_file(requested, entry.path)) is not None]


def forget_markers(context: Context, requested: str, own: Sequence[WrittenFile] | None = None) -> None:
    """Delete the markers of a published instant, which only a rollback of the instant would need.

    If no other process may attempt the instant, `own` has its published files, so that no listing is needed. If Spark
    has repeated a task too late, its marker then stays with its file until `services.collecting` deletes both.
    """
    if own is None:
        paths = [entry.path for entry in context.storage.list(marker_folder(requested))]
    else:
        paths = [marker(requested, *split_path(file.path)) for file in own]
    if paths:
        context.storage.delete_all(paths)

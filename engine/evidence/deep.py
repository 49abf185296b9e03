"""Opening the data files that commits list: are they whole, and do they hold what the commit says?"""

from __future__ import annotations

from collections.abc import Iterator

from ..data.columns import RECORD_KEY
from ..files.base import decode_parquet
from ..files.data_block import decode_data
from ..files.delete_block import decode_deletes
from ..files.group_files import BaseFile
from ..files.log_block import Block, BlockKind, read_blocks
from ..storage import Storage
from .gather import Progress
from .report import Evidence, File, Flaw, Stat

_ROWS = (BlockKind.AVRO, BlockKind.PARQUET)


def data_flaws(storage: Storage, found: Evidence, progress: Progress = lambda what, done, of: None) -> Iterator[Flaw]:
    """What is wrong inside the data files that lie there and are listed by completed commits.

    A changed value inside a row is noticed only where the file format notices it: Hudi's files carry no checksums.
    """
    listed = [stat for commit in found.commits.values() for stat in commit.stats if stat.path in found.files]
    for done, stat in enumerate(listed):
        progress("data files", done, len(listed))
        if because := _wrong(storage, found.files[stat.path], stat):
            yield Flaw("data", stat.path, because)


def _wrong(storage: Storage, file: File, stat: Stat) -> str | None:
    try:
        data = storage.get(file.path)
        if isinstance(file, BaseFile):
            keys = decode_parquet(data, file.path)[RECORD_KEY]
            rows, deletes = len(keys), stat.deletes
            if keys.null_count:
                return f"{keys.null_count} of its rows have no key"
        else:
            rows, deletes = _counted(list(read_blocks(data, file.path)), file)
    except Exception as broken:  # whatever a decoder makes of broken bytes
        return " ".join(str(getattr(broken, "exists", None) or f"{type(broken).__name__}: {broken}").split())[:300]
    if (rows, deletes) != (stat.rows, stat.deletes):
        return f"it holds {rows} rows and {deletes} deletes, its commit says {stat.rows} and {stat.deletes}"
    return None


def _counted(blocks: list[Block], file: File) -> tuple[int, int]:
    """(rows, deletes) in the blocks of a log; ValueError for a block that readers would skip or fail on."""
    rows = deletes = 0
    for block in blocks:
        if block.instant != file.requested:
            what = "is torn" if block.kind == BlockKind.CORRUPT else f"belongs to the instant {block.instant}"
            raise ValueError(f"a block in it {what}")
        if block.kind in _ROWS:
            rows += len(decode_data(block, file.path))
        elif block.kind == BlockKind.DELETE:
            deletes += sum(len(part) for part in decode_deletes(block, file.path))
        else:
            raise ValueError(f"it holds a {block.kind.name} block")
    return rows, deletes

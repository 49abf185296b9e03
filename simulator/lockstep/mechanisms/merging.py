"""How base files and logs are merged."""

from __future__ import annotations

from nbcc.model.variants.merging import Merging

from ..mechanism import Lockstep, Picture

LOCKSTEP = Lockstep(
    traceless="times, plans and file names do not depend on the rows",
    pictures={
        Merging(tombstones="drop"): Picture(
            "Compaction t{b} took the delete and dropped it: base t{b} holds nothing that outranks {other}.",
            "compaction keeps the delete with base t{b}, where it outranks {other}",
        ),
        Merging(fold="logs_first"): Picture(
            "Logs merge with each other before they meet the base file, so another row wins.",
            "base file and logs are ranked together",
        ),
    },
    explains={"merged": {"tombstones": 1, "fold": 2}, "read": {"fold": 2, "tombstones": 7}},
)

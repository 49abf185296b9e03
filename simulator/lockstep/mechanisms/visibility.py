"""Which files a reader takes."""

from __future__ import annotations

from nbcc.model.variants.visibility import Visibility

from ..mechanism import Lockstep, Picture

LOCKSTEP = Lockstep(
    refuses={
        Visibility(visibility="all_earlier"): "readers do not wait for earlier requests",
        Visibility(visibility="unless_pending"): "a file counts only if a completed instant lists it",
    },
    pictures={
        Visibility(visibility="any"): Picture(
            "The reader takes all files and does not check whether their write completed.",
            "a file counts only once a completed instant lists it",
        ),
    },
    explains={"pending": {"visibility": 1}, "read": {"visibility": 1}},
)

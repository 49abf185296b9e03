"""How readers list the timeline."""

from __future__ import annotations

from nbcc.model.variants.listing import ReaderListing

from ..mechanism import Lockstep, Picture

LOCKSTEP = Lockstep(
    traceless="a reader puts no file",
    pictures={
        ReaderListing(listing="once"): Picture(
            "The reader's one listing saw {seen} but missed this one, completed t{c}: both completed while it ran.",
            "the reader lists again and takes all writes completed up to the latest one it saw{at}",
        ),
        ReaderListing(read_time="clock"): Picture(
            "The reader read as of the clock; t{c} was taken but not yet published.",
            "a reader reads at the greatest published completion",
        ),
    },
    explains={"hidden": {"listing": 2, "read_time": 6}},
)

"""Archiving moves old completed instants from the active timeline to the archive, an LSM tree.

Under the lock, an archiver selects instants, adds them to the archive, and puts the archive's manifest. The archiver
then removes the archived instants from the active timeline one by one, oldest first. While an archiver removes
instants, and after it crashes, an instant may be both in the archive and on the active timeline. Every completed
instant is on the active timeline, in the archive, or in both.

    The module `archiver` defines the archiving actor. The module `reader` defines how a reader reads the archive. The
    module `late_publication` defines how an archived instant returns to the active timeline, and `late_request` what
    happens to a write that is requested too late.
"""

from __future__ import annotations

from ...machine.composition import Composition
from ...machine.mechanism import Mechanism
from ...machine.transition import Action
from ...validation import whole_number
from ...world import World
from . import archiver, late_publication, late_request, reader
from .options import ArchiveLimits, Archiving


def compose(composition: Composition) -> None:
    """Add archivers to the model, and let readers read the archive."""
    if composition.actors_of("archiver"):
        archiver.compose(composition)
        late_publication.compose(composition)
        late_request.compose(composition)
        reader.compose(composition)


def check(world: World) -> None:
    """Raise ValueError if the world has an archiver and `instants_retained` is 0."""
    least = int(world.actors.get("archiver", 0) > 0)
    whole_number(world[ArchiveLimits].instants_retained, "world: instants_retained", least=least)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(archiver.ARCHIVER,),
    options=Archiving,
    limits=ArchiveLimits,
    after=("metadata_table", "*"),
    check=check,
    actions=(
        Action("archiver_archives_instants", "under the lock: adds what may go to the archive and puts its manifest",
               "{actor} archives {instants}", service=True),
        Action("archiver_resumes_archiving", "removes instants that a dead archiver has left on both timelines",
               "{actor} resumes with {instants}, which are archived and still on the active timeline",
               service=True),
        Action("archiver_removes_instant", "takes the oldest of them off the active timeline",
               "{actor} takes {instants} off the active timeline", service=True),
        Action("reader_opens_archive", "reads the manifest of the archived timeline before it lists the active one",
               "{actor} opens the archive"),
        Action("reader_looks_into_archive", "reads the manifest of the archived timeline and what it lists",
               "{actor} reads the archive", continues_call=True),
    ),
)  # fmt: skip

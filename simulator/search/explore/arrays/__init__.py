"""The walk over arrays: for large searches without reductions."""

from __future__ import annotations

from ..ends import Ends
from ..space import Space
from ..walk import Walk
from ..watch import Watchers


def over_arrays(space: Space, watchers: Watchers, ends: Ends, walk: Walk) -> Walk | None:
    """Return a walk over arrays that continues `walk`, or None: if numba cannot be imported, if the space is reduced,
    or if it is unknown which components (state variables) a promise reads.
    """
    stepper = space.stepper
    if stepper is None or stepper.continuations or space.about:
        return None
    if watchers.state_bits is None or watchers.step_bits is None:
        return None
    try:
        # Here and not above, because numba takes half a second to import.
        from .walk import ArrayWalk
    except ImportError:  # numba is not installed, or not for this numpy
        return None
    return ArrayWalk(stepper, watchers, ends, walk)

"""Merge functions of users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeFunction(Options):
    """Merge functions of users."""

    merge_laws: Literal["all", "not_idempotent", "not_commutative", "not_associative"] = choice(
        "all",
        "a user's merge function: it is taken if it keeps all the laws; or one is taken that breaks one",
    )


MECHANISM = Mechanism(options=MergeFunction)

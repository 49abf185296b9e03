"""The heartbeat seam under control: a heart beats, in no time at all, until the schedule says that it has stopped."""

from __future__ import annotations


class VirtualHearts:
    """The heartbeats of one table: whose instants beat. Looking is no scheduling point; an expiry is a step."""

    def __init__(self) -> None:
        self.beating: dict[str, str] = {}  # requested time -> actor

    def expire(self, actor: str) -> None:
        """The actor has not beaten for too long.

        Raises:
            KeyError: no instant of that actor has a heartbeat.
        """
        for requested in [requested for requested, owner in self.beating.items() if owner == actor] or [actor]:
            del self.beating[requested]


class ControlledHearts:
    """What an actor is given as hearts."""

    def __init__(self, hearts: VirtualHearts, actor: str) -> None:
        self._hearts = hearts
        self._actor = actor

    def start(self, requested: str) -> None:
        """From now on the actor beats for that instant."""
        self._hearts.beating[requested] = self._actor

    def lives(self, requested: str) -> bool:
        """Whether nobody has said that this heart stopped."""
        return requested in self._hearts.beating

    def rest(self, requested: str) -> None:
        """The last beat counts until the schedule says that it was too long ago."""

    def stop(self, requested: str) -> None:
        """No more beats."""
        self._hearts.beating.pop(requested, None)

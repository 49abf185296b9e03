"""The heartbeat seam under control: a heart beats, in no time at all, until the schedule says that it has stopped."""

from __future__ import annotations


class VirtualHeartbeats:
    """The heartbeats of one table: whose instants beat. Looking is no scheduling point; an expiry is a step."""

    def __init__(self) -> None:
        self.beating: dict[str, str] = {}  # requested time -> actor
        self.stopped: set[str] = set()  # actors whose heart a rollback has stopped while they went on

    def began(self, actor: str) -> bool:
        """Whether an instant of that actor has a heartbeat, or had one until somebody else stopped it."""
        return actor in self.stopped or actor in self.beating.values()

    def expire(self, actor: str) -> None:
        """The actor has not beaten for too long. Where somebody else has stopped its heart, nothing changes.

        Raises:
            KeyError: no instant of that actor has, or had, a heartbeat.
        """
        mine = [requested for requested, owner in self.beating.items() if owner == actor]
        if not self.began(actor):
            raise KeyError(actor)
        for requested in mine:
            del self.beating[requested]


class ControlledHeartbeats:
    """What an actor is given as heartbeats."""

    def __init__(self, heartbeats: VirtualHeartbeats, actor: str) -> None:
        self._heartbeats = heartbeats
        self._actor = actor

    def start(self, requested: str) -> None:
        """From now on the actor beats for that instant."""
        self._heartbeats.stopped.discard(self._actor)
        self._heartbeats.beating[requested] = self._actor

    def is_alive(self, requested: str) -> bool:
        """Whether nobody has said that this heart stopped."""
        return requested in self._heartbeats.beating

    def stop_renewing(self, requested: str) -> None:
        """The last beat counts until the schedule says that it was too long ago."""

    def stop(self, requested: str) -> None:
        """No more beats."""
        owner = self._heartbeats.beating.pop(requested, self._actor)
        if owner != self._actor:
            self._heartbeats.stopped.add(owner)

"""Controlled heartbeats, which stay valid until the schedule lets them expire."""

from __future__ import annotations


class VirtualHeartbeats:
    """The heartbeats of all instants of one table. A heartbeat expires only when `expire` is called, not as time
    passes.
    """

    def __init__(self) -> None:
        self.beating: dict[str, str] = {}  # requested time -> actor
        self.stopped: set[str] = set()  # live actors whose heartbeat a rollback has ended

    def began(self, actor: str) -> bool:
        """Return whether the actor has a heartbeat, or had one until another actor stopped it."""
        return actor in self.stopped or actor in self.beating.values()

    def expire(self, actor: str) -> None:
        """Let the heartbeat of the actor's instant expire. If another actor has already ended the heartbeat, `expire`
        has no effect.

        Raises KeyError if `began` is False for the actor.
        """
        mine = [requested for requested, owner in self.beating.items() if owner == actor]
        if not self.began(actor):
            raise KeyError(actor)
        for requested in mine:
            del self.beating[requested]


class ControlledHeartbeats:
    """The table's heartbeats, as used by one actor."""

    def __init__(self, heartbeats: VirtualHeartbeats, actor: str) -> None:
        self._heartbeats = heartbeats
        self._actor = actor

    def start(self, requested: str) -> None:
        """Start the heartbeat of the actor's instant."""
        self._heartbeats.stopped.discard(self._actor)
        self._heartbeats.beating[requested] = self._actor

    def is_alive(self, requested: str) -> bool:
        """Return whether the heartbeat of an instant is alive: started, and neither expired nor stopped."""
        return requested in self._heartbeats.beating

    def stop_renewing(self, requested: str) -> None:
        """Do nothing, because a virtual heartbeat needs no renewal: it stays valid until the schedule lets it expire.
        """

    def stop(self, requested: str) -> None:
        """End the heartbeat of the given instant."""
        owner = self._heartbeats.beating.pop(requested, self._actor)
        if owner != self._actor:
            self._heartbeats.stopped.add(owner)

"""Reader actors, step by step: what a listing may show, and by which time a reader reads."""

from __future__ import annotations

from collections.abc import Iterable

from nbcc.model import Model, Protocol, State, Step, World
from nbcc.model.promises.view import answers
from nbcc.simulator import specs

WRITE = (
    "writer_requests_instant", "writer_starts_writing", "writer_writes_log", "writer_takes_lock",
    "writer_takes_completion_time", "writer_publishes_instant",
)  # fmt: skip


def after(model: Model, state: State, *moves: str | tuple[str, object]) -> State:
    """The state after "actor action" moves; (move, seen) picks what a listing saw."""
    for move in moves:
        words, seen = move if isinstance(move, tuple) else (move, None)
        actor, action = words.split()
        (step,) = [
            s for s in model.enabled(state)
            if (s.actor, s.action) == (actor, action) and (seen is None or dict(s.args)["seen"] == seen)
        ]  # fmt: skip
        state = model.apply(state, step)
    return state


def writes(actor: str) -> Iterable[str]:
    return (f"{actor} {action}" for action in WRITE)


READERS = specs.world("readers")


def test_a_listing_shows_what_was_there_and_any_part_of_what_came_meanwhile() -> None:
    model = Model(World(actors={"writer": 3, "reader": 1}))
    state = after(model, model.initial, *writes("w1"), "r1 reader_starts_listing", *writes("w2"), *writes("w3"))
    ends = [step for step in model.enabled(state) if step.action == "reader_ends_listing"]

    assert [dict(step.args)["seen"] for step in ends] == [(), (3,), (5,), (3, 5)]
    assert model.describe(ends[1]) == "r1 ends its listing; of later instants it shows (3,)"


def test_a_careful_reader_reads_at_the_greatest_completion_of_its_first_listing() -> None:
    model = Model(READERS)
    state = after(model, model.initial, "r1 reader_starts_listing", *writes("w1"), *writes("w2"),
                  ("r1 reader_ends_listing", (3,)), "r1 reader_starts_listing_again",
                  "r1 reader_ends_listing_again", "r1 reader_reads")  # fmt: skip
    reader = model.component(state, "r1")

    assert (reader.time, reader.instants) == (4, (1, 3))


def test_what_completes_after_its_time_is_not_read() -> None:
    model = Model(READERS)
    state = after(model, model.initial, *writes("w1"), "r1 reader_starts_listing", ("r1 reader_ends_listing", ()),
                  *writes("w2"), "r1 reader_starts_listing_again", "r1 reader_ends_listing_again")  # fmt: skip
    reader = model.component(state, "r1")

    assert (reader.time, reader.instants) == (2, (1,))


def test_who_lists_once_may_miss_the_earlier_of_two() -> None:
    model = Model(READERS, Protocol(listing="once"))
    state = after(model, model.initial, "r1 reader_starts_listing", *writes("w1"), *writes("w2"),
                  ("r1 reader_ends_listing", (3,)), "r1 reader_reads")  # fmt: skip
    reader = model.component(state, "r1")

    assert (reader.time, reader.instants) == (4, (3,))


def test_who_reads_by_the_clock_reads_ahead_of_what_is_published() -> None:
    model = Model(READERS, Protocol(read_time="clock"))
    state = after(model, model.initial, *list(writes("w1"))[:-1], "r1 reader_starts_listing")

    assert model.component(state, "r1").time == 2
    assert model.settled(state) == 2
    assert Model(READERS).settled(Model(READERS).initial) == 0


def test_a_reader_reads_once() -> None:
    model = Model(READERS)
    state = after(model, model.initial, "r1 reader_starts_listing", "r1 reader_ends_listing",
                  "r1 reader_starts_listing_again", "r1 reader_ends_listing_again", "r1 reader_reads")  # fmt: skip

    assert model.refusal(state, Step("r1", "reader_starts_listing")) == ("r1 must have a read left",)
    assert "r1" in model.stopped_by_limits(state)


def test_who_sees_a_compaction_completed_has_its_base_file() -> None:
    """Also if its listing began before the plan was made and missed the write that the base file holds."""
    model = Model(READERS.replace(actors={"writer": 1, "compactor": 1, "reader": 1}), Protocol(listing="once"))
    state = after(model, model.initial, "r1 reader_starts_listing", *writes("w1"), "c1 compactor_schedules_plan",
                  "c1 compactor_starts_plan", "c1 compactor_writes_base", "c1 compactor_takes_lock",
                  "c1 compactor_takes_completion_time", "c1 compactor_publishes_instant",
                  ("r1 reader_ends_listing", (3,)), "r1 reader_reads")  # fmt: skip
    [(_, time, table)] = answers(model, state)

    assert time == 4
    assert model.rules.as_of(table, 0, time).base is not None

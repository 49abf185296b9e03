"""Two rooms for each mechanism: only they name its options, kinds and actions, but for a number that may only fall."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.model.machine.options import names_of
from nbcc.model.mechanisms import every
from nbcc.simulator.lockstep.mechanisms import chosen, rooms
from tools import names


@pytest.fixture(scope="module")
def found() -> dict[str, int]:
    return {sort: files.total() for sort, files in names.literals().items()}


@pytest.mark.parametrize("sort", names.CEILINGS)
def test_no_more_literals_than_the_ceiling(sort: str, found: dict[str, int]) -> None:
    assert found[sort] <= names.CEILINGS[sort], f"python -m tools.names lists the literals of {sort}"


def test_no_more_class_names_of_two_modules_than_the_ceiling() -> None:
    assert len(names.doubled_classes()) <= names.DOUBLED, "python -m tools.names lists them"


def test_a_literal_counts_outside_its_rooms_alone(tmp_path: Path) -> None:
    places = {
        "model/mechanisms/crashes.py": 0, "simulator/lockstep/mechanisms/crashes.py": 0,
        "simulator/lockstep/mechanisms/rollback.py": 1, "tools/kills.py": 1,
    }  # fmt: skip
    for place in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text('"""actor_crashes"""\nWORDS = ("actor_crashes of x", "lock_expiry")\n')
    counted = names.literals(tmp_path)
    assert {place: counted["options"][place] for place in places} == places
    # a docstring that is nothing but the name counts as well
    assert {place: counted["actions"][place] for place in places} == places
    assert not counted["kinds"]


def test_a_homonym_is_an_option() -> None:
    options = {name for each in every().values() if each.options for name in names_of(each.options)}
    assert names.HOMONYMS.keys() <= options


def test_a_room_in_lockstep_belongs_to_a_mechanism_of_the_model() -> None:
    assert rooms().keys() <= every().keys()
    with_actions = {name for name, each in every().items() if each.actions}
    assert with_actions <= rooms().keys()


def test_a_refusal_or_picture_is_about_an_option_of_its_own_mechanism() -> None:
    for name, room in rooms().items():
        for part in (*room.refuses, *room.pictures):
            assert type(part) in (every()[name].options, every()[name].limits), name
            assert chosen(part)


def test_a_refusal_of_two_options_is_an_error() -> None:
    from nbcc.model.variants.as_of import AsOf

    with pytest.raises(ValueError, match="must set one value that is not the default; it sets 2"):
        chosen(AsOf(as_of_axis="requested", as_of_bound="before"))

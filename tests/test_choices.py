"""Choices with their levels, and the arms that they make with sets."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from metalic.choices import MOST_ARMS, Arms, Choice, arm_text, read_choices
from metalic.errors import ChoiceError
from metalic.sets import ConditionSet, Decision

ARMS = Arms(("u", "c"), (Choice("cut", (0.3, 0.5, 0.7)), Choice("parts", (2, 3))))


def test_arms_are_all_sets_with_all_levels() -> None:
    found = {arm_text(ARMS.decision(i)) for i in range(len(ARMS))}
    sets, cuts, parts = ("none", "u", "c", "u,c"), ("cut=0.3", "cut=0.5", "cut=0.7"), ("parts=2", "parts=3")
    assert found == {" ".join(one) for one in product(sets, cuts, parts)}


def test_numbers_vectors_and_decisions_agree() -> None:
    for i, vector in enumerate(ARMS.vectors):
        decision = ARMS.decision(i)
        assert ARMS.number(decision) == i
        assert ARMS.number_of(vector.tolist()) == i
        assert ARMS.vector(decision.conditions.bits, decision.choices) == tuple(vector)
        named = [name for name, bit in zip(ARMS.columns, vector, strict=True) if bit]
        assert named == [*decision.conditions.names, *(f"{name}={level}" for name, level in decision.choices.items())]


def test_arms_with_given_levels() -> None:
    levels = {"cut": 0.5, "parts": 3}
    expected = [i for i in range(len(ARMS)) if ARMS.decision(i).choices == levels]
    assert ARMS.with_levels(levels).tolist() == expected


def test_without_choices_an_arm_is_a_set() -> None:
    arms = Arms(("u", "uavg", "c"))
    assert [arms.decision(i).conditions.index for i in range(8)] == list(range(8))
    np.testing.assert_array_equal(arms.vectors[5], [1, 0, 1])
    assert Decision(ConditionSet.at(("u",), 1)).to_dict() == {
        "conditions": ["u"],
        "index": 1,
        "mean": None,
        "std": None,
    }


def test_levels_are_numbers_or_texts() -> None:
    choice = Choice.parse("hidden= 20, 20x20 ,0.5")
    assert choice.levels == (20, "20x20", 0.5)
    assert choice.places == (1.0, None, 0.0)
    assert (choice.find("0.5"), choice.find(20)) == (0.5, 20)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Choice("cut", ()), "choice 'cut' has no levels: give at least two"),
        (lambda: Choice.parse("cut="), "choice 'cut' has no levels"),
        (lambda: Choice.parse("cut=0.5"), "choice 'cut' has only the level 0.5: give at least two"),
        (lambda: Choice.parse("cut"), "a choice is NAME=LEVEL,LEVEL"),
        (lambda: Choice("cut", 0.5), "choice 'cut' has a list of levels"),  # type: ignore[arg-type]
        (lambda: Choice("cut", (0.5, 0.5)), "choice 'cut' has a level twice"),
        (lambda: Choice("cut", (0.5, float("nan"))), "a finite number, not nan"),
        (lambda: Choice("cut", (0.5, None)), "a number or a text, not None"),  # type: ignore[arg-type]
        (lambda: Choice("a cut", (0.5, 0.6)), "a choice has a name"),
        (lambda: Choice("cut", (0.5, 0.6)).find(0.7), "choice 'cut' has no level 0.7: 0.5, 0.6"),
        (lambda: read_choices([Choice("cut", (1, 2))] * 2), "choice 'cut' is given twice"),
        (lambda: read_choices(["cut"]), "choices are given as"),
        (lambda: Arms(tuple("abcdefghi"), (Choice("cut", tuple(range(300))),)), f"153600 arms .*at most {MOST_ARMS}"),
    ],
)
def test_bad_choices(make: Any, message: str) -> None:
    with pytest.raises(ChoiceError, match=message):
        make()

"""The chooser of fixed sets."""

from problems import NAMES, S

from metalic.chooser import FixedChooser
from metalic.sets import ConditionSet, Decision

HERE = {"a": 3.0, "b": 0.5}


def test_fixed_sets_hold_to_the_end() -> None:
    first, second = (Decision(ConditionSet.at(NAMES[:S], index)) for index in (3, 5))
    chooser = FixedChooser((first, second))
    chooser.begin(HERE)
    assert [chooser.choose(phase, 0.1) for phase in range(3)] == [first, second, second]
    assert FixedChooser((first,)).choose(1, 0.1) == first

"""Sets of conditions as values, and which notations are one set, one per phase, or refused."""

import pickle

import pytest

from metalic.errors import ConditionError
from metalic.sets import ConditionSet, Decision, split_phases

KNOWN = ("u", "uavg", "c")
POSITION = {"u": 1, "uavg": 2, "c": 4}


@pytest.mark.parametrize("index", range(8))
def test_every_notation_gives_the_same_set(index: int) -> None:
    names = tuple(name for name in KNOWN if index & POSITION[name])
    bits = tuple(int(name in names) for name in KNOWN)
    found = ConditionSet.at(KNOWN, index)
    assert (found.names, found.bits, found.index) == (names, bits, index)
    assert str(found) == (",".join(names) or "none")
    for notation in (index, str(index), names, list(names), set(names), list(bits), str(found), found):
        assert ConditionSet.parse(KNOWN, notation) == found
    assert pickle.loads(pickle.dumps(found)) == found
    assert len({found, ConditionSet(KNOWN, bits)}) == 1


def test_a_set_of_a_larger_catalogue_is_taken_by_its_names() -> None:
    larger = ConditionSet.parse(("x", "c", "u"), "u,c")
    assert ConditionSet.parse(KNOWN, larger) == ConditionSet(KNOWN, (1, 0, 1))
    with pytest.raises(ConditionError, match="no condition 'x' for Mary: allowed are u, uavg, c"):
        ConditionSet.parse(KNOWN, ConditionSet.parse(("x",), "x"), " for Mary")


@pytest.mark.parametrize(
    ("given", "sets"),
    [
        ("u,c;u", ["u,c", "u"]),
        ([["u", "c"], ["u"]], [["u", "c"], ["u"]]),
        ([(), (0, 1, 0)], [(), (0, 1, 0)]),
        ([ConditionSet(KNOWN, (1, 0, 0))], [ConditionSet(KNOWN, (1, 0, 0))]),
        ("u,c", None),
        (["u", "c"], None),
        ([0, 1, 1], None),
        ((), None),
        (ConditionSet(KNOWN, (1, 0, 0)), None),
        (3, None),
    ],
)
def test_one_set_or_one_per_phase(given: object, sets: list[object] | None) -> None:
    assert split_phases(given) == sets
    for one in [given] if sets is None else sets:
        assert isinstance(ConditionSet.parse(KNOWN, one), ConditionSet)


@pytest.mark.parametrize("given", [["u,c"], ["u,c", "u"], [["u", "c"], "u"], ["u", []], ["u;c"], ("u", ("c",))])
def test_ambiguous_notations_are_refused(given: object) -> None:
    assert split_phases(given) is None
    with pytest.raises(ConditionError, match=r"is ambiguous: write 'u,c' or \['u', 'c'\] for one set, and 'u,c;u'"):
        ConditionSet.parse(KNOWN, given)


@pytest.mark.parametrize("given", [[3], [1, 0], [290, 3, 1], [0, 1, 2]])
def test_numbers_in_a_list_are_a_vector_or_nothing(given: list[int]) -> None:
    with pytest.raises(
        ConditionError, match=r"0/1 vector of conditions has 3 entries.* an index is a number by itself"
    ):
        ConditionSet.parse(KNOWN, given)


def test_a_decision_for_json() -> None:
    decision = Decision(ConditionSet(KNOWN, (1, 0, 1)), 0.5, 0.25)
    assert decision.to_dict() == {"conditions": ["u", "c"], "index": 5, "mean": 0.5, "std": 0.25}

"""Choices applied to a family and to the options of its solves."""

from typing import Any

import numpy as np
import pytest
from jax import monitoring
from pairs import CUTS, SCHEDULE, Cuttable

import metalic as mt
from metalic.choices import Choice, read_choices
from metalic.errors import ChoiceError, FamilyError
from metalic.families import BUILT_IN
from metalic.pinn.chosen import check_choices, chosen, topology, usual_levels
from metalic.pinn.options import SolverOptions

FAMILY, NONE = Cuttable(), SolverOptions()


def test_levels_move_cuts_and_set_options() -> None:
    family, options = chosen(FAMILY, NONE, SCHEDULE, {"cut": 0.3, "lambda_boundary": 200, "hidden": "5x4"})
    assert family.decomposition == mt.split(FAMILY.domain, t=[0.3])
    assert (options.lambda_boundary, options.hidden) == (200.0, (5, 4))
    assert chosen(FAMILY, NONE, SCHEDULE, {}) == (FAMILY, NONE)
    assert chosen(FAMILY, NONE, SCHEDULE, {"cut": 0.5})[0] is FAMILY


def test_undivided_has_the_points_of_all_subdomains() -> None:
    family, options = chosen(FAMILY, NONE, SCHEDULE, {"cut": "undivided"})
    usual = NONE.resolve(FAMILY, SCHEDULE).points
    assert len(family.decomposition) == 1
    assert options.points is not None
    assert (options.points.collocation, options.points.boundary) == (2 * usual.collocation, 2 * usual.boundary)


def test_usual_levels() -> None:
    found = usual_levels(FAMILY, SolverOptions(hidden=(7, 7)), SCHEDULE)
    assert found["cut"] == 0.5
    assert (found["parts"], found["hidden"]) == (2, "7x7")


@pytest.mark.parametrize("name", [name for name, kind in BUILT_IN.items() if kind().decompose is not None])
def test_usual_levels_of_built_in_families_give_their_decomposition(name: str) -> None:
    family = mt.find_family(name)
    assert family.decompose is not None
    assert family.decompose() == family.decomposition
    assert family.decompose(**family.usual_levels()) == family.decomposition


def test_other_places_of_a_cut_compile_nothing() -> None:
    """All cuts of one topology share the programs of a set."""
    found: list[str] = []

    def listen(event: str, *_: Any, **__: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            found.append(event)

    mt.solve(Cuttable, "u,x", SCHEDULE, hidden=(3,), a=1.0, check=False)
    monitoring.register_event_duration_secs_listener(listen)
    try:
        errors = [
            mt.solve(Cuttable, "u,x", SCHEDULE, hidden=(3,), a=1.0, choices={"cut": cut}, check=False).error
            for cut in (0.3, 0.7)
        ]
    finally:
        monitoring.unregister_event_duration_listener(listen)
    assert found == []
    assert errors[0] != errors[1]


def test_strips_of_burgers_share_a_topology() -> None:
    family = mt.find_family("burgers")
    check_choices(family, NONE, SCHEDULE, read_choices({"strip": [0.05, 0.1, 0.4, "undivided"]}))
    (strip,) = [chosen(family, NONE, SCHEDULE, {"strip": 0.4})[0].decomposition]
    assert topology(strip) == topology(family.decomposition)
    np.testing.assert_allclose(strip.subdomains["inner"].measure / family.domain.measure, 0.4)


class Banded(Cuttable):
    """A cut below 0.1 makes three parts."""

    def decompose(self, cut: float = 0.5) -> mt.Decomposition:  # type: ignore[override]
        return mt.split(self.domain, t=[cut] if cut > 0.1 else [cut, 0.5])


class Open(Cuttable):
    def decompose(self, cut: float) -> mt.Decomposition:  # type: ignore[override]
        return mt.split(self.domain, t=[cut])


@pytest.mark.parametrize(
    ("family", "choices", "error", "message"),
    [
        (Cuttable(), {"cutt": [0.1, 0.2]}, ChoiceError, "no choice 'cutt': allowed are cut, .* Did you mean 'cut'"),
        (Cuttable(), {"cut": [0.5, 1.5]}, ChoiceError, "cut=1.5 cannot be chosen for family 'cuttable'"),
        (Cuttable(), {"cut": [0.5, "half"]}, ChoiceError, "cut=half cannot be chosen"),
        (Cuttable(), {"lambda_boundary": [1, -2]}, ChoiceError, "lambda_boundary=-2 cannot be chosen"),
        (Cuttable(), {"hidden": ["5x5", "5xa"]}, ChoiceError, "the widths of layers, as in 20x20, not '5xa'"),
        (Banded(), {"cut": [0.05, 0.5]}, ChoiceError, "cut=0.05 divides family 'banded' into other subdomains"),
        (Open(), CUTS, FamilyError, "argument 'cut' of decompose needs a default"),
    ],
)
def test_bad_choices(family: mt.Family, choices: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_choices(family, NONE, SCHEDULE, read_choices(choices))


def test_whole_numbers_may_change_the_topology() -> None:
    check_choices(FAMILY, NONE, SCHEDULE, (Choice("parts", (2, 3)), Choice("cut", (0.3, 0.5))))

"""Starting from networks: the same function in another shape, and fewer iterations to the same solution."""

import json
from dataclasses import replace

import numpy as np
import pytest
from small import HIDDEN, POINTS, Line, Quad, Ring, untrained

import metalic as mt
from metalic.errors import FileError, ScheduleError, StartError
from metalic.pinn import Schedule
from metalic.pinn.network import Network
from metalic.pinn.sampler import scale
from metalic.pinn.start import Start, Target, fitted

X = np.linspace(0, 1, 31)
COLD = Schedule("cold", (mt.Phase(mt.Adam(1e-2), 100), mt.Phase(mt.GaussNewton(), 60)))
SOLVER = {"hidden": HIDDEN, "points": POINTS}


def target(family, hidden, scaling="subdomain", seed=0):
    family = mt.find_family(family)
    network = Network(len(family.coordinates), len(family.components), hidden)
    return Target(family, network, *scale(family, scaling), seed)


def as_solution(solution, start):
    """A solution with the networks of a start."""
    parts = {name: getattr(start, name) for name in ("family", "theta", "hidden", "centre", "slope")}
    return replace(solution, **parts)


@pytest.fixture(scope="module")
def cold():
    """u = sin(k x) / sin(k) with k = 1.5."""
    return mt.solve(Line, "u,c", COLD, k=1.5, **SOLVER)


# --- Networks that fit -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaling", ["subdomain", "domain", "none"])
def test_another_scaling_is_taken_up_exactly(scaling):
    old = untrained(Line)
    new = fitted(old, target(Line, HIDDEN, scaling))
    assert new.kind == "copied"
    np.testing.assert_allclose(as_solution(old, new)(x=X), old(x=X), rtol=0, atol=1e-12)


def test_another_activation_is_projected():
    """tanh networks of five units hold a start of five sines to a few per cent at least."""
    old = replace(untrained(Line), activation="sine")
    new = fitted(old, target(Line, (12,)))
    assert (new.kind, new.activation) == ("projected", "tanh")
    same = fitted(old, Target(old.family, Network(1, 1, HIDDEN, "sine"), old.centre, old.slope, 0))
    assert (same.kind, same.activation) == ("copied", "sine")
    np.testing.assert_array_equal(same.theta, old.theta)


@pytest.mark.parametrize(
    ("hidden", "wider"), [((5,), (9,)), ((3, 4), (6, 4)), ((3, 4), (5, 7)), ((3, 2, 3), (4, 4, 4))]
)
def test_wider_networks_are_the_same_function(hidden, wider):
    old = untrained(Quad, hidden=hidden)
    new = fitted(old, target(Quad, wider, "domain"))
    points = np.random.default_rng(0).uniform((0, 0), (1, 2), (40, 2))
    assert new.kind == "widened"
    assert new.theta.shape == (4, Network(2, 2, wider).size)
    np.testing.assert_allclose(as_solution(old, new)(points), old(points), rtol=0, atol=1e-12)


def test_units_that_are_new_can_be_trained():
    """Their incoming weights are not zero: else all of them would stay equal for ever."""
    old = untrained(Line)
    new = fitted(old, target(Line, (9,)))
    weights, _ = new.network.layers(new.theta[0])[0]
    assert len(np.unique(weights)) == 9


@pytest.mark.parametrize(
    ("family", "hidden"), [(Line, (6, 6)), (mt.find_family(Line).undivided(), (10,))], ids=["deeper", "undivided"]
)
def test_another_shape_or_decomposition_is_fitted(cold, family, hidden):
    new = fitted(cold, target(family, hidden))
    assert new.kind == "projected"
    exact = np.sin(1.5 * X) / np.sin(1.5)
    np.testing.assert_allclose(as_solution(cold, new)(x=X), exact, rtol=0, atol=1e-3)


def test_a_system_of_equations_is_fitted_component_by_component():
    old = untrained(Quad, hidden=(2,))
    new = fitted(old, target(Quad, (6, 6)))
    points = np.random.default_rng(0).uniform((0.01, 0.01), (0.39, 0.99), (40, 2))  # inside a subdomain
    assert new.kind == "projected"
    np.testing.assert_allclose(as_solution(old, new)(points), old(points), rtol=0, atol=2e-2)


# --- Solves ----------------------------------------------------------------------------------------------------------


def test_a_neighbour_is_solved_in_a_few_iterations_and_without_adam(cold):
    short = Schedule("cold", (COLD.phases[0], mt.Phase(mt.GaussNewton(), 20)))
    warm = mt.solve(Line, "u,c", short, k=1.55, start=cold, **SOLVER)
    assert [phase.optimizer for phase in warm.phases] == ["gauss-newton"]
    assert np.abs(warm(x=X) - np.sin(1.55 * X) / np.sin(1.55)).max() < 1e-4
    assert warm.start == {"source": "solution", "parameters": {"k": 1.5}, "kind": "copied"}
    assert cold.start is None


def test_a_start_is_where_the_solve_begins(cold):
    """At the same parameters the loss begins where it ended."""
    once = (mt.Phase(mt.GaussNewton(), 1),)
    again = mt.solve(Line, "u,c", once, k=1.5, start=cold, **SOLVER)
    assert again.loss <= cold.loss * (1 + 1e-9)
    by_weights = mt.solve(Line, "u,c", once, k=1.5, start=cold.theta, **SOLVER)
    np.testing.assert_array_equal(by_weights.theta, again.theta)
    assert by_weights.start == {"source": "weights", "parameters": {}, "kind": "copied"}


def test_a_phase_that_is_asked_for_runs(cold):
    phases = (mt.Phase(mt.Adam(1e-2), 3, always=True), mt.Phase(mt.GaussNewton(), 1))
    assert [phase.iterations for phase in mt.solve(Line, "u,c", phases, k=1.5, start=cold, **SOLVER).phases] == [3, 1]
    alone = mt.solve(Line, "u,c", (mt.Phase(mt.Adam(1e-2), 3),), k=1.5, start=cold, **SOLVER)
    assert [phase.iterations for phase in alone.phases] == [3]


def test_sets_keep_their_phases(cold):
    warm = mt.solve(Line, "u;u,c", COLD, k=1.5, start=cold, **SOLVER)
    assert warm.conditions == (("u", "c"),)


def test_the_file_of_a_solution_is_a_start_and_a_start_is_kept_in_files(cold, tmp_path):
    path = cold.save(tmp_path / "old.npz")
    warm = mt.solve(Line, "u,c", (mt.Phase(mt.GaussNewton(), 1),), k=1.6, start=path, **SOLVER)
    assert warm.start["source"] == str(path)
    loaded = mt.Solution.load(warm.save(tmp_path / "new.npz"), Line)
    assert loaded.start == warm.start


def test_the_command_starts_from_a_file(command, tmp_path):
    for name in ("poisson", "burgers"):
        untrained(name, hidden=(3,)).save(tmp_path / f"{name}.npz")
    said = command("solve", "poisson", "-p", "s=5", "--start", "burgers.npz")
    assert said.code == 2
    assert said.err == "error: 'burgers.npz' holds a solution of 'burgers', which is not the family 'poisson'\n"
    said = command("solve", "poisson", "-p", "s=5", "--start", "absent.npz")
    assert said.code == 2
    assert "cannot read 'absent.npz'" in said.err


def test_json_says_where_a_solution_came_from():
    start = {"source": "old.npz", "parameters": {"k": 1.0}, "kind": "widened"}
    solution = replace(untrained(Line), start=start)
    assert json.loads(json.dumps(solution.to_dict()))["start"] == start
    assert untrained(Line).to_dict()["start"] is None


# --- Bad input -------------------------------------------------------------------------------------------------------


class Long(Line):
    name = "line"
    domain = mt.Box(x=(0, 2))
    decomposition = mt.split(domain, x=[1.0])

    def boundary(self):
        return [mt.Dirichlet("x=0", 0.0)]


class Several(Line):
    name = "line"
    components = ("u", "v")


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (untrained(Ring), "its family is ring"),
        (untrained(Long), "its domain is Box"),
        (untrained(Several), "its components are \\['u', 'v'\\]"),
        (replace(untrained(Line), theta=np.full((2, 16), np.nan)), "not finite"),
        (np.zeros((2, 3)), r"have shape \(2, 16\) here, not \(2, 3\)"),
        (17, r"have shape \(2, 16\)"),
        ({}, "a start is a solution, its file or an array of weights"),
    ],
)
def test_a_start_that_does_not_belong_is_refused(start, message):
    with pytest.raises(StartError, match=message):
        fitted(start, target(Line, HIDDEN))


def test_networks_too_small_for_a_start_are_refused():
    wild = untrained(Line, hidden=(20, 20), seed=1)
    wild = replace(wild, theta=8 * wild.theta)
    with pytest.raises(StartError, match=r"networks \(1,\) cannot represent what is to be started from"):
        fitted(wild, target(Line, (1,)))


def test_a_file_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(FileError, match="cannot read"):
        mt.solve(Line, k=1.5, start=tmp_path / "absent.npz")
    with pytest.raises(ScheduleError, match="no schedule"):
        mt.solve(Line, schedule="absent", k=1.5, start=tmp_path / "absent.npz")


def test_a_start_of_its_own_kind_keeps_it():
    begun = replace(Start.of(untrained(Line), "library.db"), kind="interpolated")
    assert fitted(begun, target(Line, HIDDEN)).to_dict()["kind"] == "interpolated"

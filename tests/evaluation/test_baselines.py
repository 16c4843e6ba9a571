"""The baselines: the sets, networks and points of each method."""

from dataclasses import replace

import metalic as mt
from metalic.evaluation.baselines import METHODS
from metalic.evaluation.offline import ORACLE, STRIDE, planner
from metalic.pinn.options import SolverOptions
from metalic.study import Study


def test_single_domain_methods(short_study: Study) -> None:
    plan = planner(short_study)
    hidden = {}
    for name in ("pinn-sub", "pinn-merge-h", "pinn-merge-v"):
        task = plan.at(METHODS[name], {"a": 1.0}, seed=5)
        hidden[name] = task.options.hidden
        assert len(task.family.decomposition) == 1
        assert (task.family.points.collocation, task.family.points.boundary) == (32, 16)
        assert task.chooser.choose(0, None).conditions.bits == (0, 0, 0)
    assert hidden == {"pinn-sub": (3,), "pinn-merge-h": (6,), "pinn-merge-v": (3, 3)}
    given = replace(short_study.settings, options=SolverOptions(points=mt.Points(10, 6, 4)))
    setup = METHODS["pinn-sub"].setup(given, None)
    assert setup.options.points == mt.Points(10, 6, 4).together(["1", "2"]) == mt.Points(20, 12, 4)
    assert setup.options.hidden == (20, 20)


def test_sets_of_the_methods(short_study: Study) -> None:
    plan = planner(short_study)

    def first(method: str, a: float = 1.0) -> tuple[str, ...]:
        return plan.at(METHODS[method], {"a": a}, seed=0, number=7).chooser.choose(0, None).conditions.names

    assert first("all") == ("u", "uavg", "x")
    assert first("xpinn") == ("uavg",)  # this family has no rc
    assert first("cpinn") == ("u", "uavg")  # nor c
    assert "u" in first("fixed")
    assert first("learned", 0.7) == short_study.recommend(a=0.7).conditions[0]
    poisson = mt.find_family("poisson")
    assert mt.Catalogue(poisson).names == poisson.conditions
    for name, wanted in (("xpinn", ("uavg", "rc")), ("cpinn", ("uavg", "c"))):
        method = METHODS[name]
        assert method.rule(mt.Catalogue(poisson), None).names == wanted  # type: ignore[attr-defined]
    advection = mt.Catalogue(mt.find_family("advection"))
    assert METHODS["cpinn"].rule(advection, None).names == ("u", "uavg")  # type: ignore[attr-defined]


def test_numbers_leave_room() -> None:
    numbers = [method.number for method in METHODS.values()]
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) < ORACLE < STRIDE

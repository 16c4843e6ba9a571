"""How objects show themselves."""

from pathlib import Path

import decay

import metalic as mt
from metalic.evaluation.offline import OfflineTest, run_test
from metalic.study import Study


def test_objects_in_a_notebook(tmp_path: Path) -> None:
    with Study(decay.play(tmp_path / "a.db", 8, family=decay.Hostile), decay.Hostile, read_only=True) as study:
        solution = mt.solve(decay.Hostile(), "u,x", decay.SCHEDULE, a=1.0, **decay.SOLVER)
        test = run_test(study, tmp_path / "t.db", pdes=1, methods=["learned"])
        things = {"study": study, "advice": study.recommend(a=1.0), "solution": solution, "test": test}
        shown = {name: thing._repr_html_() for name, thing in things.items()}
    for page in shown.values():
        assert page.count("<table") == page.count("</table>") == 1
        assert "<script>" not in page
    assert "best plays" in shown["study"]
    assert f"<td style='text-align:left'>{solution.error:.2e}</td>" in shown["solution"]
    assert "effect in phase 2" in shown["advice"]
    assert "<td>learned</td>" in shown["test"]
    shown = repr(OfflineTest.read(tmp_path / "t.db"))
    assert shown.startswith(f"<OfflineTest of {decay.Hostile.name}: 1 methods, median")


def test_pictures_in_a_notebook(tmp_path: Path) -> None:
    solution = mt.solve(decay.Decay(), "u,x", decay.SCHEDULE, a=1.0, check=False, **decay.SOLVER)
    with Study(decay.play(tmp_path / "a.db", 8), decay.Decay, read_only=True) as study:
        advice = study.recommend(a=1.0)
        assert study._repr_html_().count("<img ") == 1
    for thing in (solution, advice, decay.Decay(), mt.find_family("burgers")):
        assert thing._repr_html_().count("<img ") == 1
    assert solution.plot()._repr_png_().startswith(b"\x89PNG")
    assert "absolute error" in [axis.get_ylabel() for axis in solution.plot().axes]
    assert solution.phases[-1].status.name == "BUDGET"

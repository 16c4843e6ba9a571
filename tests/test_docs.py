"""The Python blocks of a tutorial run as they stand, in order, in one namespace; links between pages lead somewhere."""

import re
from pathlib import Path

import numpy as np
import pytest

from metalic import solving
from metalic.pinn import SCHEDULES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
USAGE = re.compile(r"^```py\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def run_page(page: str, folder: Path = DOCS) -> dict[str, object]:
    """All blocks of a page, in order; what they have defined."""
    text = (folder / page).read_text()
    namespace: dict[str, object] = {"__name__": "page"}
    for block in BLOCK.finditer(text):
        line = text[: block.start(1)].count("\n")
        exec(compile("\n" * line + block[1], str(folder / page), "exec"), namespace)
    return namespace


def test_your_first_family(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run_page("your-first-family.md")
    assert found["good"].error < 1e-3
    assert found["poor"].error > 10 * found["good"].error
    assert (tmp_path / "rod.png").stat().st_size > 0


def test_your_first_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run_page("your-first-study.md")
    assert len(found["study"].plays) == 12
    assert "c" in found["best"].conditions[0]
    assert found["solution"].error < 1e-2


def test_conditions():
    found = run_page("conditions.md")
    assert found["mt"].Catalogue(found["PoissonRobin"]).names[-1] == "robin"


def test_from_deepxde(monkeypatch):
    monkeypatch.setattr("metalic.solving.CHECK", True)
    found = run_page("from-deepxde.md")
    exact = np.exp(-0.2 * np.pi**2 * 0.5) * np.sin(np.pi * 0.3)
    assert float(found["solution"](x=0.3, t=0.5)) == pytest.approx(exact, rel=1e-2)


def test_readme(tmp_path, monkeypatch):
    """Its examples run; it is short, and shows a picture before any table."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(solving, "CHECK", True)
    text = (ROOT / "README.md").read_text()
    assert len(text.split()) < 1400
    assert 0 < text.index("![") < text.index("|---")
    found = run_page("README.md", ROOT)
    assert (tmp_path / "burgers.npz").exists()
    assert found["near"].start["kind"] == "copied"
    assert found["near"].loss < found["solution"].loss
    taken = {name: sum(phase.iterations for phase in found[name].phases) for name in ("near", "solution")}
    assert taken["near"] < taken["solution"]


def test_verdict():
    found = run_page("verdict.md")
    assert found["solution"].checked.estimate == pytest.approx(found["solution"].error, rel=0.5)


def test_reading_off(tmp_path, monkeypatch):
    pytest.importorskip("xarray")
    pytest.importorskip("meshio")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("metalic.solving.CHECK", True)
    found = run_page("reading-off.md")
    assert found["solution"].checked.good
    for name in ("bar.nc", "bar.vtu", "bar.png"):
        assert (tmp_path / name).stat().st_size > 0


def test_progress(tmp_path, monkeypatch, capsys):
    pytest.importorskip("tensorboardX")
    monkeypatch.chdir(tmp_path)
    found = run_page("progress.md")
    assert len(list((tmp_path / "runs" / "poisson").glob("events.out.tfevents.*"))) == 1
    assert capsys.readouterr().out.strip() == "stopped on request"
    assert found["solution"].loss < 1


def test_evaluation(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = run_page("evaluation.md")
    assert found["test"].methods == ("learned", "random-seq", "all", "xpinn", "oracle")
    printed = capsys.readouterr().out
    assert "XPINN (uavg, rc)" in printed
    assert "theorem's bound" in printed
    assert "data:image/svg" in (tmp_path / "report.html").read_text()
    for name in ("effects.png", "sets.png", "reproduced/regret.pdf"):
        assert (tmp_path / name).stat().st_size > 0


def test_many_members(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = run_page("many-members.md")
    assert found["second"].start["kind"] == "copied"
    assert found["third"].start["kind"] == "interpolated"
    assert found["third"].error < 1e-3
    assert found["found"].errors.max() < 1e-3
    assert len(found["own"]) == len(found["library"]) + 2
    assert found["hard"].error < 1e-2
    assert (tmp_path / "line.npz").stat().st_size > 0


PAGES = [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md"), *(DOCS.parent / "results").rglob("*.md")]


@pytest.mark.parametrize("page", sorted(str(path.relative_to(DOCS.parent)) for path in PAGES))
def test_links_lead_somewhere(page):
    path = DOCS.parent / page
    for target in LINK.findall(path.read_text()):
        assert target.startswith("https://") or (path.parent / target).exists(), f"{page}: no '{target}'"


def test_every_page_is_in_the_index():
    index = (DOCS / "index.md").read_text()
    for page in DOCS.glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in index


def test_pages_that_do_not_run_use_another_mark():
    """A page with a block marked `python` is run by a test above; what only shows usage is marked `py`."""
    tested = re.findall(r'run_page\("([^"]+)"', Path(__file__).read_text())
    marked = {page.name for page in DOCS.glob("*.md") if BLOCK.search(page.read_text())}
    assert marked == {page for page in tested if page != "README.md"}
    for page in DOCS.glob("*.md"):
        for block in USAGE.finditer(page.read_text()):
            compile(block[1], str(page), "exec")


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=lambda schedule: schedule.name)
def test_the_table_of_schedules_tells_the_truth(schedule):
    rows = [line.split("|") for line in (DOCS / "solver.md").read_text().splitlines() if line.startswith("| `")]
    (row,) = [row for row in rows if f"`{schedule.name}`" in row[1] and len(row) == 7]
    for phase, text in zip(schedule.phases, row[2].split(";"), strict=True):
        assert phase.optimizer.name.replace("-", "") in text.lower().replace("-", "")
        numbers = [int(number.replace(" ", "")) for number in re.findall(r"(?<![\de.-])\d[\d ]*\b(?!e)", text)]
        assert phase.iterations in numbers
        assert phase.resample is None or phase.resample in numbers
    assert [cell.strip() for cell in row[3:5]] == [schedule.sampling, schedule.scaling]

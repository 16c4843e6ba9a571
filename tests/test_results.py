"""The tables in results, README and docs are what the committed ledgers give."""

import csv
from pathlib import Path
from typing import Any

import pytest

from benchmarks.accuracy import PAPER as PUBLISHED
from experiments import choices
from experiments.offline import page
from metalic.reproduction import reproduce

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
SHOWN = RESULTS / "reproduced"


def numbers(path: Path) -> list[list[str | float]]:
    def value(cell: str) -> str | float:
        try:
            return float(cell)
        except ValueError:
            return cell

    with path.open() as file:
        return [[value(cell) for cell in row] for row in csv.reader(file)]


PAPER: dict[str, Any] = {"schedule": "paper", "families": ["poisson", "burgers"]}
MADE = [
    ("online", SHOWN, {}),
    ("offline", SHOWN, {}),
    ("analysis", SHOWN, {}),
    ("sampling", SHOWN, {}),
    ("combinations", SHOWN, {}),
    ("offline", SHOWN / "paper", PAPER),
]


@pytest.mark.parametrize(("item", "shown_in", "options"), MADE)
def test_a_table_follows_from_the_ledgers(item: str, shown_in: Path, options: dict[str, Any], tmp_path: Path) -> None:
    reproduce(item, tmp_path, ledgers=RESULTS, run=False, **options)
    assert (tmp_path / f"{item}.md").read_text() == (shown_in / f"{item}.md").read_text()
    made, shown = numbers(tmp_path / f"{item}.csv"), numbers(shown_in / f"{item}.csv")
    assert len(made) == len(shown) > 1
    for one, other in zip(made, shown, strict=True):
        assert [cell if isinstance(cell, str) else pytest.approx(cell, rel=1e-9) for cell in one] == other


def table_under(heading: str, file: Path) -> str:
    """The table of a page that follows a heading."""
    part = f"\n{file.read_text()}".split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return "\n".join(line for line in part.splitlines() if line.startswith("|"))


def test_the_page_of_tests_follows_from_the_ledgers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    written, data, figures = page(Path("results/tests"), Path("results/plays"))
    assert written == (RESULTS / "offline.md").read_text()
    assert len(data) == len(list((RESULTS / "tests").glob("*.db")))
    assert {f"offline_{name}.png" for name in figures} == {path.name for path in RESULTS.glob("offline_*.png")}


@pytest.mark.parametrize(
    ("heading", "results", "shown_in"),
    [
        ("The ledgers inside the package", "offline.md", "docs/findings.md"),
        ("All methods with `fast`", "offline.md", "docs/findings.md"),
        ("Table 1", "reproduced/offline.md", "docs/findings.md"),
    ],
)
def test_pages_for_readers_show_the_tables_of_results(heading: str, results: str, shown_in: str) -> None:
    table = table_under(heading, RESULTS / results)
    assert table.count("\n") >= 5
    assert table in (ROOT / shown_in).read_text()


def test_the_page_of_choices_follows_from_the_ledgers() -> None:
    found = choices.tables(RESULTS / "choices" / "plays", RESULTS / "choices" / "tests")
    assert (RESULTS / "choices.md").read_text().split("\n\n", 1)[1] == choices.page(found)
    ratios = {row[0]: [row[4], row[6]] for row in found["compared"] if row[1] == "champion"}
    names = {
        "layer": "boundary layer",
        "oscillator": "oscillator",
        "materials": "two materials",
        "turning": "turning point",
    }
    shown = cells((ROOT / "README.md").read_text())
    assert [[row[2], row[3]] for name in names.values() for row in shown if row[0] == name] == [
        ratios[name] for name in names
    ]


def cells(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines() if line.startswith("|")
    ]


def test_the_tables_of_the_readme_are_those_of_results() -> None:
    """Accuracy and steps, number by number; columns by what they are called in results."""
    shown = cells((ROOT / "README.md").read_text())
    rows = cells((RESULTS / "defaults.md").read_text())
    made = {(row[0], row[2]): dict(zip(rows[0], row, strict=True)) for row in rows[2:]}
    for family in ("poisson", "advection", "reaction", "burgers"):
        new, old = made["here", family], made["fe5d1e4", family]
        wanted = [family, new["median error"], new["seconds"], old["median error"], f"{PUBLISHED[family]:.1e}"]
        assert wanted in shown
    steps = (RESULTS / "steps.md").read_text()
    for title, label in (("Adam step", "Adam"), ("Gauss-Newton iteration", "Gauss-Newton")):
        names, _, *rows = cells(steps.split(f"**{title}**")[1].split("**")[0])
        found = dict(zip(names, rows[0], strict=True))  # Poisson
        peers = ("PyTorch / ours", "plain JAX / ours", "DeepXDE / ours")
        assert [label, *(found.get(name, "-") for name in peers)] in shown

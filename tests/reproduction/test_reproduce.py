"""Every item at small scale: what stands in the files, and that a second call finds the work done."""

import json
import re
import shutil
import statistics
from pathlib import Path
from typing import Any

import pytest
from items import check_files, numbers

import metalic as mt
from metalic.errors import StudyError
from metalic.reproduction import paper, reproduce
from metalic.reproduction.campaign import SCALES
from metalic.study import Ledger, Study

PLAYS = SCALES["small"].plays


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


def test_online(out: Path) -> None:
    made = reproduce("online", out, scale="small")
    check_files(out, "online", ["online"])
    methods = {"Single-UCB", "Single-TS", "Random-Single", "Seq-UCB", "Seq-TS", "Random-Seq"}
    assert {row[1] for row in made.table.rows} == methods
    data = numbers(out / "online.csv")
    assert len(data) == len(methods) * PLAYS
    for method in methods:
        mine = [row for row in data if row["method"] == method]
        total = 0.0
        for row in mine:
            total += float(row["error"])
            assert float(row["accumulated"]) == pytest.approx(total)
        (shown,) = [row for row in made.table.rows if row[1] == method]
        assert shown[3:5] == (f"{PLAYS}", pytest.approx(total))
        assert shown[5] == pytest.approx(statistics.median(float(row["error"]) for row in mine[PLAYS // 2 :]))
        (chance,) = [row for row in made.table.rows if row[1] == f"Random-{'Single' if 'Single' in method else 'Seq'}"]
        assert shown[6:] == (PLAYS, pytest.approx(chance[4] / total))
    before = {path: path.read_bytes() for path in (out / "ledgers").glob("*.db")}
    assert len(before) == len(methods)
    again = reproduce("online", out, scale="small")
    assert again.table == made.table
    assert all(path.read_bytes() == content for path, content in before.items())


def test_offline(out: Path) -> None:
    made = reproduce("offline", out, scale="small")
    check_files(out, "offline", ["offline-poisson"])
    assert [row[1] for row in made.table.rows] == list(paper.OFFLINE)
    assert [row[6] for row in made.table.rows] == [values["poisson"] for values in paper.OFFLINE.values()]
    assert all(float(row[7]) == pytest.approx(row[3] / row[6], rel=0.1) for row in made.table.rows)
    data = {row["method"]: row for row in numbers(out / "offline.csv")}
    assert {row["pdes"] for name, row in data.items() if not name.startswith("Random")} == {"2"}
    assert data["Random-Seq"]["pdes"] == str(PLAYS)  # read from the random study
    for name, row in data.items():
        assert float(row["mean"]) > 0
        assert float(row["quartile 1"]) <= float(row["median"]) <= float(row["quartile 3"])
        short, whole = [line for line in (out / "offline.md").read_text().splitlines() if f"| {name} |" in line]
        assert short == f"| {name} | {float(row['mean']):.1e} / {paper.OFFLINE[name]['poisson']:.1e} |"
        assert f"{paper.OFFLINE[name]['poisson']:.3g}" in whole


def test_analysis(out: Path) -> None:
    made = reproduce("analysis", out, scale="small")
    check_files(out, "analysis", [f"analysis-poisson-{what}" for what in ("sets", "conditions", "errors")])
    data = numbers(out / "analysis.csv")
    learned = [row for row in data if row["method"] == "Seq-UCB"]
    assert len(learned) == 2 * SCALES["small"].pdes  # two phases
    for phase, row in enumerate(made.table.rows, start=1):
        sets = [one["conditions"].split(",") for one in learned if one["phase"] == str(phase)]
        shares = dict(re.findall(r"(\w+) (\d+)%", row[3]))
        assert len(shares) == 9
        assert all(int(share) == round(100 * sum(n in one for one in sets) / 2) for n, share in shares.items())


def test_pointwise(out: Path) -> None:
    made = reproduce("pointwise", out, scale="small")
    check_files(out, "pointwise", ["pointwise-poisson"])
    assert {row[1] for row in made.table.rows} == {"s = 46.1"}
    assert [row[2] for row in made.table.rows] == ["Single-UCB", "Seq-UCB", "Random-Single", "Random-Seq", "PINN-Sub"]
    data = numbers(out / "pointwise.csv")
    assert len(data) == 5 * 21 * 21
    for row in made.table.rows:
        largest = max(float(one["error"]) for one in data if one["method"] == row[2])
        assert row[5] == pytest.approx(largest, rel=1e-3)  # maps are rounded
    before = {path: path.stat().st_mtime_ns for path in (out / "solutions").iterdir()}
    assert reproduce("pointwise", out, scale="small").table == made.table
    assert {path: path.stat().st_mtime_ns for path in (out / "solutions").iterdir()} == before


def test_the_preliminary_study(out: Path) -> None:
    runs = SCALES["small"].runs
    made = reproduce("combinations", out, scale="small")
    check_files(out, "combinations", ["combinations"])
    assert [row[0] for row in made.table.rows] == list(paper.COMBINATIONS)
    assert made.table.rows[6][2] == "5.26e-04 ± 1.97e-04"
    assert len(numbers(out / "combinations.csv")) == 8 * runs
    with Ledger(out / "trials" / "combinations.db") as ledger:
        rows = {row.number: row for row in ledger.plays()}
    assert rows[7000].phases[0].conditions == ("uavg", "c", "yy")
    assert rows[1000].phases[0].conditions == ()  # the PINN
    assert reproduce("combinations", out, scale="small").table == made.table

    made = reproduce("sampling", out, scale="small")
    check_files(out, "sampling", ["sampling"])
    data = numbers(out / "sampling.csv")
    cells = {(row["model"], row["sampling"], float(row["lambda"])) for row in data}
    assert cells == set(paper.SAMPLING)
    assert len(data) == len(cells) * runs
    assert made.table.rows[0][2::2] == tuple(list(paper.SAMPLING.values())[:6])
    same = [
        float(row["error"])
        for row in data
        if (row["model"], row["sampling"], row["lambda"]) == ("XPINN", "random", "1.0")
    ]
    assert same == [rows[3000 + run].error for run in range(runs)]  # {uavg, rc} at unit weights is in both tables


def test_ledgers_that_exist_are_read_and_not_written(out: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in out.rglob("*.db")}
    made = reproduce("online", tmp_path, scale="small", ledgers=out)
    assert made.table == reproduce("online", out, scale="small").table
    assert not (tmp_path / "ledgers").exists()
    assert reproduce("combinations", tmp_path, scale="small", ledgers=out).table.rows[0][0] == "PINN"
    reproduce("offline", tmp_path, scale="small", ledgers=out)
    assert not list(tmp_path.rglob("*.db"))
    assert {path: path.read_bytes() for path in out.rglob("*.db")} == before


def test_what_is_missing_is_left_out_if_nothing_may_be_run(out: Path, tmp_path: Path) -> None:
    part, made = tmp_path / "part", tmp_path / "made"
    part.mkdir()
    whole = reproduce("online", out, scale="small").table
    for name in ("poisson-seq-ucb-0.db", "poisson-random-single-0.db"):
        shutil.copy(out / "ledgers" / name, part / name)
    nothing: dict[str, Any] = {"scale": "small", "ledgers": part, "run": False}
    online = reproduce("online", made, **nothing).table
    rows = {row[1]: row for row in online.rows}
    assert set(rows) == {"Seq-UCB", "Random-Single"}
    assert {row[1]: row[:6] for row in whole.rows if row[1] in rows} == {name: row[:6] for name, row in rows.items()}
    assert rows["Seq-UCB"][6:] == (None, None)  # there is no random study to compare with
    small = SCALES["small"]
    others: list[dict[str, Any]] = [
        {"reward": "residual"},
        {"bandit": mt.Sequential(policy=mt.UCB(c=9.0))},
        {"bandit": mt.Sequential(first=["all"])},
    ]
    for seed, other in enumerate(others, start=7):
        options = {"schedule": small.schedule, "solver": small.solver, "seed": seed} | other
        Study(part / f"{seed}.db", "poisson", **options).close()
    assert reproduce("online", made, **nothing).table == online  # no study that learns otherwise than the paper's
    Study(part / "10.db", "poisson", schedule=small.schedule, solver=small.solver, seed=10).close()
    assert reproduce("online", made, **nothing).table != online
    (part / "10.db").unlink()
    offline = {row[1]: row[2] for row in reproduce("offline", made, **nothing).table.rows}
    assert offline == {name: PLAYS if name == "Random-Single" else 0 for name in paper.OFFLINE}
    assert "was not run" in (made / "offline.md").read_text()
    for item in ("analysis", "pointwise", "sampling", "combinations"):
        with pytest.raises(StudyError, match="nothing may be run"):
            reproduce(item, made, **nothing)
    assert not list(made.rglob("*.db"))
    nothing["ledgers"] = out
    for item in ("offline", "analysis", "sampling", "combinations"):
        whole = reproduce(item, out, scale="small").table
        assert reproduce(item, tmp_path / "all", **nothing).table == whole
    with pytest.raises(StudyError, match="no solutions in"):
        reproduce("pointwise", tmp_path / "all", **nothing)
    whole = reproduce("pointwise", out, scale="small").table
    assert reproduce("pointwise", out, scale="small", run=False).table == whole


def test_on_the_command_line(command, tmp_path: Path) -> None:
    said = command("reproduce", "regret", "--scale", "small", "--out", "r", "--json")
    assert said.code == 0, said.err
    answer = json.loads(said.out)
    assert [Path(name).name for name in answer["files"]] == ["regret.pdf", "regret.png", "regret.csv", "regret.md"]
    assert len(answer["rows"]) == 6
    assert all((tmp_path / name).exists() for name in answer["files"])
    refused = command("reproduce", "nothing", "--out", "r")
    assert (refused.code, "no item 'nothing': allowed are" in refused.err) == (2, True)

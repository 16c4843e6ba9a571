"""Scales of the paper's experiments, what is refused before any work is done, and that every ledger is read once."""

from collections import Counter
from pathlib import Path

import pytest

from metalic.errors import StudyError
from metalic.reproduction import ITEMS, campaign, reproduce
from metalic.reproduction.campaign import SCALES, bandit_named
from metalic.study import Study


def test_the_preliminary_schedule_is_the_papers() -> None:
    first, second = SCALES["full"].preliminary.phases
    assert (first.optimizer.rate, first.iterations) == (1e-3, 500)  # type: ignore[attr-defined]
    assert second.iterations == 20_000
    assert (second.optimizer.gradient_tolerance, second.optimizer.change_tolerance) == (1e-9, 1e-12)  # type: ignore[attr-defined]
    assert (SCALES["full"].plays, SCALES["full"].pdes, SCALES["full"].runs) == (200, 100, 10)
    assert bandit_named("Random-Seq", 5).name == "sequential"
    assert bandit_named("Single-TS", 5).policy.name == "thompson"


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=f"allowed are {', '.join(ITEMS)}"):
        reproduce("table", tmp_path)
    with pytest.raises(StudyError, match="allowed are full, small"):
        reproduce("online", tmp_path, scale="huge")
    with pytest.raises(StudyError, match="no family 'wave'"):
        reproduce("online", tmp_path, scale="small", families=["wave"])
    with pytest.raises(StudyError, match="no directory"):
        reproduce("online", tmp_path, scale="small", ledgers=tmp_path / "none")


def test_every_ledger_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: Counter[str] = Counter()

    class Counted(campaign.Ledger):
        def __init__(self, path: Path):
            opened[path.name] += 1
            super().__init__(path)

    monkeypatch.setattr(campaign, "Ledger", Counted)
    ledgers = tmp_path / "ledgers"
    ledgers.mkdir()
    small = campaign.SCALES["small"]
    Study(ledgers / "a.db", "poisson", campaign.bandit_named("Seq-UCB", 5), small.schedule).close()
    (ledgers / "text.db").write_text("not a ledger")
    queries = campaign.Campaign(tmp_path / "out", small, ledgers, run=False)
    for _ in range(3):
        assert queries.has_study("poisson", "Seq-UCB")
        assert not queries.has_study("poisson", "Seq-TS")
    assert opened == {"a.db": 1, "text.db": 1}
    (ledgers / "a.db").write_text("damaged")
    assert not queries.has_study("poisson", "Seq-UCB")
    assert opened == {"a.db": 2, "text.db": 1}

"""A campaign reads every ledger once, and again when it has changed."""

from collections import Counter
from pathlib import Path

import pytest

from metalic.reproduction import campaign
from metalic.study import Study


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

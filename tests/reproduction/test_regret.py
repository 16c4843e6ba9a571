"""The regret experiment at small scale."""

from pathlib import Path

import pytest
from items import check_files, numbers

from metalic.reproduction import reproduce


def test_regret(tmp_path: Path) -> None:
    made = reproduce("regret", tmp_path, scale="small")
    check_files(tmp_path, "regret", ["regret"])
    data = numbers(tmp_path / "regret.csv")
    assert len(data) == 60
    final = {row[0]: row[1] for row in made.table.rows}
    assert final["UCB, c = 1"] < final["random"]
    assert final["UCB, theorem's c"] < final["theorem's bound"]
    assert float(data[-1]["random"]) == pytest.approx(final["random"])
    exponents = {row[0]: row[3] for row in made.table.rows}
    assert exponents["random"] > 0.9 > exponents["UCB, theorem's c"]

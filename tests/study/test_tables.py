"""A study's plays as tables."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tiny import RANDOM, SETTINGS, Tiny

from metalic.errors import FileError
from metalic.study import Study

pytestmark = pytest.mark.filterwarnings("error")


def test_tables(tmp_path: Path, pretending: Any) -> None:
    pandas = pytest.importorskip("pandas")
    with Study(tmp_path / "a.db", Tiny, RANDOM, **SETTINGS) as study:
        study.play(4)
        frame, plays = study.to_pandas(), study.plays
        for suffix in ("csv", "json", "parquet"):
            study.export(tmp_path / f"out.{suffix}")
        with pytest.raises(FileError, match=r"\.csv, \.json, \.parquet"):
            study.export(tmp_path / "out.xls")
        with pytest.raises(FileError, match="cannot write"):
            study.export(tmp_path / "none" / "out.csv")
    errors = [play.error for play in plays]
    assert frame["error"].tolist() == errors
    assert frame["error_2"].tolist() == errors
    with (tmp_path / "out.csv").open() as file:
        assert [float(row["error"]) for row in csv.DictReader(file)] == errors
    assert [row["error"] for row in json.loads((tmp_path / "out.json").read_text())] == errors
    parquet = pandas.read_parquet(tmp_path / "out.parquet")
    assert parquet["error"].tolist() == errors
    assert parquet["conditions_1"].tolist() == [",".join(play.phases[0].conditions) for play in plays]

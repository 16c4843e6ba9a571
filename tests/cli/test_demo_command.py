"""`metalic demo`."""

import re
from pathlib import Path

import pytest

import metalic as mt
from metalic.cli.commands import demo
from metalic.cli.commands.demo import verdict


def test_in_words() -> None:
    assert verdict({"learned": 1e-3, "default": 3.14e-3, "random": 2.5}) == [
        "The learned set is 3.1 times as accurate as the default set of the family.",
        "The learned set is 2500 times as accurate as a random set (the median one of 3).",
    ]
    same, worse = verdict({"learned": 1e-3, "default": 1.1e-3, "random": 5e-4})
    assert same == "The learned set is as accurate as the default set of the family."
    assert worse == "The learned set is less accurate, by a factor of 2, than a random set (the median one of 3)."


def test_demo(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a schedule that takes no time and learns nothing: what it says agrees with the solutions that it wrote."""
    monkeypatch.setattr(demo, "SCHEDULE", mt.Schedule("short", (mt.Phase(mt.Adam(1e-2), 5),)))
    said = command("demo", "--out", "play", "--plays", "6")
    assert said.code == 0, said.err
    errors = {
        name: mt.Solution.load(tmp_path / "play" / f"{name}.npz").error for name in ("learned", "default", "random")
    }
    words = " ".join(said.out.split())
    for sentence in verdict(errors):
        assert sentence in words
    drawn = sorted(float(text) for text in re.findall(r"random \d\D+([\d.]+e[-+]\d+)", words))
    assert f"{errors['random']:.2e}" == f"{drawn[1]:.2e}"
    assert len(drawn) == 3
    assert "too early to rely on" in words
    assert "picture: play/demo.png" in said.out
    assert (tmp_path / "play" / "demo.png").stat().st_size > 10_000

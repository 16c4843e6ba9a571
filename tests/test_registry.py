"""One of each kind of thing, added in one file of the user's own, in Python and on the command line."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import decay
import numpy as np
import pytest

import metalic as mt
from metalic.bandit import KERNELS, POLICIES, find_kernel, find_policy
from metalic.evaluation.baselines import METHODS
from metalic.evaluation.pictures import FIGURES
from metalic.families import BUILT_IN, find_family
from metalic.pinn import SCHEDULES, find_schedule
from metalic.pinn.optimizers import OPTIMIZERS
from metalic.registry import Registry
from metalic.reproduction import ITEMS, SCALES
from metalic.study import Ledger, Study
from metalic.study.packing import packed
from metalic.study.protocol import PROTOCOLS
from metalic.study.rewards import REWARDS, find_reward

FILE = Path(__file__).parent / "helpers" / "own.py"
DECAY = f"{Path(decay.__file__)}:Decay"
KINDS = (BUILT_IN, SCHEDULES, OPTIMIZERS, POLICIES, KERNELS, REWARDS, METHODS, PROTOCOLS, FIGURES, ITEMS)
EVERYTHING = {
    "--family": f"{FILE}:Own",
    "--schedule": f"{FILE}:SCHEDULE",
    "--policy": f"{FILE}:Last",
    "--kernel": f"{FILE}:Flat",
    "--reward": f"{FILE}:Plain",
}


def words(**without: str) -> list[str]:
    return [word for pair in EVERYTHING.items() if pair[0] not in without.values() for word in pair]


@pytest.mark.parametrize("registry", KINDS, ids=lambda registry: registry.kind)
def test_every_built_in_thing_is_found_by_its_name(registry: Registry[Any]) -> None:
    assert len(registry) > 0
    for name, thing in registry.items():
        assert registry.find(name) is registry.named(name) is thing
        assert thing.name == name
    with pytest.raises(registry.error, match=rf"no {registry.kind} '{name}x': allowed are .* Did you mean '{name}'"):
        registry.find(f"{name}x")


def test_a_built_in_thing_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package is scanned: whatever extends the base in any of its modules is found."""
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "__init__.py").touch()
    (tmp_path / "shelf" / "one.py").write_text(FILE.read_text())
    (tmp_path / "shelf" / "two.py").write_text(FILE.read_text().replace('"descent"', '"second"'))
    monkeypatch.syspath_prepend(str(tmp_path))
    shelf: Registry[Any] = Registry("optimizer", OPTIMIZERS.base, "shelf", mt.MetalicError)
    assert list(shelf) == ["descent", "second"]
    assert shelf["second"]().to_dict() == {"name": "second", "rate": 1e-3}


def test_everything_from_a_file_on_the_command_line(tmp_path: Path, command: Callable[..., Any]) -> None:
    said = command("play", "a.db", *words(), "--plays", 7, "--json", "--quiet")
    assert said.code == 0, said.err
    with Ledger(tmp_path / "a.db") as ledger:
        settings, plays = ledger.settings(), ledger.plays()
    assert settings["family"]["conditions"] == ["u", "x", "twice"]  # the family and its condition
    assert settings["schedule"]["phases"][0]["optimizer"] == {"name": "descent", "rate": 1e-3}
    assert (settings["bandit"]["kernel"], settings["bandit"]["policy"]) == ("flat", {"name": "last"})
    assert settings["solver"] == {"hidden": [3]}  # the family's option
    assert [play.phases[0].optimizer for play in plays] == ["descent"] * 7
    assert [play.sets for play in plays[5:]] == ["u,x,twice"] * 2  # five random ones, then the policy's
    assert all(play.reward == -play.error for play in plays if play.error is not None)
    means = {play.phases[0].mean for play in plays[5:]}
    assert None not in means  # the kernel's model was asked
    solved = command("solve", f"{FILE}:Own", "-p", "a=1", "--schedule", f"{FILE}:SCHEDULE", "--json", "--quiet")
    assert json.loads(solved.out)["phases"][0]["optimizer"] == "descent"


def test_what_is_made_from_a_ledger_on_the_command_line(tmp_path: Path, command: Callable[..., Any]) -> None:
    """A method to compare with, a figure of the report, and an item to reproduce."""
    decay.play(tmp_path / "a.db", 6, family=DECAY)
    said = command("test", "a.db", "--family", DECAY, "--methods", f"{FILE}:LAST_ONLY", "--pdes", 1, "--json")
    assert "PDE 1  last condition alone  x  error" in said.err, said.err
    assert [row["title"] for row in json.loads(said.out)["methods"]] == ["learned", "last condition alone"]
    drawn = command("report", "a.db", "--family", DECAY, "--figure", f"{FILE}:PlaysOfEach")
    assert drawn.code == 0, drawn.err
    assert "The number of plays of each study." in (tmp_path / "report.html").read_text()
    made = command("reproduce", f"{FILE}:COUNT", "--scale", "small", "--json")
    assert (made.code, json.loads(made.out)["rows"]) == (0, [[str(SCALES["small"].pdes)]]), made.err


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("--family", r"is of your family 'own'.*--family FILE\.py:CLASS"),
        ("--schedule", r"an optimizer of your own: give it, --schedule FILE\.py:NAME"),
        ("--reward", r"created with your reward 'plain'.*--reward FILE\.py:CLASS"),
    ],
)
def test_what_is_your_own_is_given_again(command: Callable[..., Any], missing: str, message: str) -> None:
    """No code is loaded because a ledger names it."""
    assert command("play", "a.db", *words(), "--plays", 1, "--quiet").code == 0
    refused = command("play", "a.db", *words(without=missing), "--plays", 1, "--quiet")
    assert refused.code == 2
    assert re.search(message, refused.err, re.DOTALL)
    assert command("play", "a.db", *words(), "--plays", 1, "--quiet").code == 0


def test_your_own_policy_and_kernel_are_given_again(tmp_path: Path, command: Callable[..., Any]) -> None:
    assert command("play", "a.db", *words(), "--plays", 1, "--quiet").code == 0
    options = {"schedule": f"{FILE}:SCHEDULE", "reward": f"{FILE}:Plain"}
    with pytest.raises(mt.MetalicError, match=r"no policy 'last': .*One of your own must be passed"):
        Study(tmp_path / "a.db", f"{FILE}:Own", **options)
    with Ledger(tmp_path / "a.db") as ledger:
        settings = ledger.settings()
    settings["bandit"] |= {"policy": {"name": "ucb"}, "kernel": f"{FILE}:Flat"}
    Ledger.writer(tmp_path / "hostile.db", settings).close()
    with pytest.raises(mt.MetalicError, match=r"no kernel .*pass one of your own"):
        Study(tmp_path / "hostile.db", f"{FILE}:Own", **options)


def test_everything_in_python(tmp_path: Path) -> None:
    things = [find_policy(f"{FILE}:Last"), find_kernel(f"{FILE}:Flat"), find_schedule(f"{FILE}:SCHEDULE")]
    policy, kernel, schedule = things
    family = find_family(f"{FILE}:Own")
    bandit = mt.Single(policy=policy, kernel=kernel, random_plays=1)
    with Study(tmp_path / "a.db", family, bandit, schedule, find_reward(f"{FILE}:Plain", family)) as study:
        study.play(3)
        flat = study.learned.recommend((1.0,), top=8)[0]
    np.testing.assert_allclose([one.mean for one in flat], flat[0].mean)  # what the kernel says


def test_files_of_one_name_do_not_collide(tmp_path: Path) -> None:
    found = []
    for folder, name in (("a", "first"), ("b", "second")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own.py").write_text(FILE.read_text().replace('"descending"', f'"{name}"'))
        found.append(find_schedule(f"{tmp_path / folder / 'own.py'}:SCHEDULE"))
    assert [schedule.name for schedule in found] == ["first", "second"]
    modules = [sys.modules[type(schedule.phases[0].optimizer).__module__] for schedule in found]
    assert [Path(str(module.__file__)).parent.name for module in modules] == ["a", "b"]
    again = find_schedule(f"{tmp_path / 'a' / 'own.py'}:SCHEDULE")
    assert again is found[0]  # a file is executed once
    (tmp_path / "a" / "own.py").write_text(FILE.read_text().replace('"descending"', '"changed"'))
    assert find_schedule(f"{tmp_path / 'a' / 'own.py'}:SCHEDULE").name == "changed"


def test_a_file_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("import numpy\n1 / 0\n")
    before = set(sys.modules)
    with pytest.raises(mt.MetalicError, match=r"importing '.*own\.py' failed: ZeroDivisionError"):
        find_family(f"{tmp_path / 'own.py'}:Own")
    assert set(sys.modules) == before


def test_a_packed_thing_leaves_no_trace() -> None:
    before = set(cloudpickle.list_registry_pickle_by_value())
    things = (find_family(f"{FILE}:Own"), find_policy(f"{FILE}:Last"), find_kernel(f"{FILE}:Flat"))
    assert b"Gradient descent." not in packed(1)
    assert b"minus the error" in packed(things).lower() or b"All sets are alike" in packed(things)
    assert set(cloudpickle.list_registry_pickle_by_value()) == before

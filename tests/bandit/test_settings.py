"""Settings of bandits: defaults, JSON and back, and what is refused."""

import json
import subprocess
import sys

import pytest

from metalic.bandit import (
    UCB,
    Bandit,
    Policy,
    Sequential,
    Settings,
    Single,
    Thompson,
)
from metalic.errors import BanditError


@pytest.mark.parametrize(
    "settings",
    [
        Single(),
        Single(policy=Thompson(joint=True), kernel="paper", random_plays=0),
        Sequential(policy=UCB(c="theorem", delta=0.3), gamma=0.5, loss_context="none"),
        Sequential(first=[3, 511, 3]),
    ],
)
def test_settings_survive_json(settings):
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


def test_defaults_as_a_ledger_keeps_them():
    """The policy, its c and the discount are those printed in the paper; the kernel is ours."""
    assert Sequential().to_dict() == {
        "name": "sequential",
        "policy": {"name": "ucb", "c": 1.0, "delta": 0.1},
        "kernel": "lean",
        "random_plays": 5,
        "gamma": 0.9,
        "loss_context": "log",
    }


def test_the_papers_reward_model_is_named_in_full():
    stored = Single(kernel="paper", gp="plain").to_dict()
    assert (stored["kernel"], stored["gp"]) == ("paper", "plain")
    assert Settings.from_dict(stored).gp == "plain"
    del stored["gp"]  # a ledger of version 0.1
    assert Settings.from_dict(stored).gp == "standard"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UCB(c=-1.0), "zero or more"),
        (lambda: UCB(c=float("nan")), "zero or more"),
        (lambda: UCB(c="theory"), "'theorem'"),
        (lambda: UCB(delta=0.0), "between 0 and 1"),
        (lambda: Single(random_plays=-1), "random_plays"),
        (lambda: Sequential(gamma=float("inf")), "gamma"),
        (lambda: Single(first="u,c"), "a list of sets"),
        (lambda: Single(first=3), "a list of sets"),
        (lambda: Bandit(settings=Single(first=[8]), conditions=("u", "c", "x"), low=(), high=()), "from 0 to 7, not 8"),
        (
            lambda: Bandit(settings=Single(first=["u"]), conditions=("u", "c", "x"), low=(), high=()),
            "a study also takes names",
        ),
        (lambda: Sequential(loss_context="square"), "loss_context"),
        (
            lambda: Policy.from_dict({"name": "ucd"}),
            "no policy 'ucd': allowed are ucb, thompson, random, greedy",
        ),
        (lambda: Policy.from_dict({"name": "ucb", "k": 1}), "cannot be made"),
        (lambda: Settings.from_dict({"name": "triple"}), "no bandit 'triple': allowed are single, sequential"),
        (lambda: Settings.from_dict({"name": "single", "gamma": 1}), "cannot be made"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(BanditError, match=message):
        make()


def test_settings_load_no_jax():
    code = "import sys, metalic.bandit as b; b.Sequential(policy=b.UCB()).to_dict(); sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

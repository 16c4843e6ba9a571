"""The figure of a choice shows what is true of invented pairs."""

import numpy as np
import pytest

from metalic.bandit import Bandit, Compared, Pair, Paired, PlayedPhase
from metalic.choices import Choice
from metalic.evaluation.gains import RIBBON, gains_figure
from metalic.look import PALETTE

CHOICE = Choice("cut", (0.3, 0.5))
CHAMPION = 1 + 4  # {u} with the cut 0.5
TREND = 0.5  # decades of gain per decade of a


@pytest.fixture(scope="module")
def learned() -> Compared:
    """The cut 0.3 gains where a < 0.1 and loses above."""
    bandit = Bandit(
        settings=Paired(champion=CHAMPION), conditions=("u", "c"), low=(0.01,), high=(1.0,), choices=(CHOICE,)
    )
    rng, pairs, space = np.random.default_rng(0), [], bandit.space
    for number in range(1, 151):
        context, played = 10 ** rng.uniform(-2, 0), int(rng.integers(len(space)))
        gain = 0.0 if played >= 4 else -TREND * np.log10(context / 0.1)
        vector = tuple(int(bit) for bit in space.vectors[played])
        phases = (PlayedPhase(vector, 2 + gain + 0.1 * rng.standard_normal()),)
        pairs.append(Pair((context,), phases, champion=2.0, number=number))
    found = bandit.learn(pairs)
    assert isinstance(found, Compared)
    return found


def test_lines_dots_and_ribbon(learned: Compared) -> None:
    (axis,) = gains_figure(learned, CHOICE, {"a": (0.01, 1.0)}).axes
    lines = {line.get_label(): line for line in axis.lines if not line.get_label().startswith("_")}
    assert list(lines) == ["cut=0.3", "cut=0.5 (champion)"]
    x, y = lines["cut=0.3"].get_data()
    assert y == pytest.approx((x / 0.1) ** TREND, rel=0.25)
    assert (lines["cut=0.5 (champion)"].get_ydata() == 1).all()
    assert len(axis.lines) == 2 + len(learned.pairs)
    ribbon = [patch for patch in axis.patches if patch.get_height() == RIBBON]
    colours = [PALETTE.index(_hex(patch)) for patch in sorted(ribbon, key=lambda patch: patch.get_x())]
    assert colours == sorted(colours)  # the cut 0.3 first, then the champion's
    assert set(colours) == {0, 1}


def test_other_parameters_stay_at_their_middle(learned: Compared) -> None:
    (axis,) = gains_figure(learned, CHOICE, {"a": (0.2, 1.0)}).axes
    assert axis.get_xscale() == "linear"
    assert axis.get_xlim() == (0.2, 1.0)


def _hex(patch) -> str:
    return "#{:02X}{:02X}{:02X}".format(*(round(255 * part) for part in patch.get_facecolor()[:3]))

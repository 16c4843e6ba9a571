"""The paper's claims: intervals against closed forms, and verdicts on invented ledgers whose truth is known."""

from pathlib import Path

import numpy as np
import pytest

from metalic.errors import StudyError
from metalic.reproduction import reproduce
from metalic.reproduction.claims import Finding, bootstrap, ratio_of_means, wilson


def test_the_interval_of_a_mean_is_that_of_the_normal_law() -> None:
    values = np.random.default_rng(1).normal(5.0, 2.0, size=(1, 400))
    mean, low, high = bootstrap(lambda e: float(e[0].mean()), values)
    half = 1.96 * values.std() / 20
    assert mean == values.mean()
    np.testing.assert_allclose([low, high], [mean - half, mean + half], atol=0.1 * half)


def test_pairs_make_the_interval_narrow() -> None:
    """Errors that differ by a factor of 3 on every PDE have that ratio exactly, however far apart PDEs are."""
    rng = np.random.default_rng(2)
    easy = {(pde, 0): float(10 ** rng.normal()) for pde in range(40)}
    paired = {key: 3 * value for key, value in easy.items()}
    np.testing.assert_allclose(ratio_of_means(paired, easy), 3.0)
    other_seeds = {(pde, 1): value for (pde, _), value in paired.items()}
    value, low, high = ratio_of_means(other_seeds, easy)
    assert value == pytest.approx(3.0)
    assert low < 2 < 4 < high


def test_wilson_against_the_textbook() -> None:
    """Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20."""
    for successes, count, interval in ((81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605)), (0, 20, (0, 0.1611))):
        np.testing.assert_allclose(wilson(successes / count, count), interval, atol=6e-5)


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(1.1, 2, "confirmed"), (0.1, 0.9, "not confirmed"), (0.9, 1.1, "not decided")]
)
def test_verdicts(low: float, high: float, verdict: str) -> None:
    assert Finding("claim", "poisson", "measure", 1.0, low, high, bound=1.0).verdict == verdict


def test_nothing_to_judge(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no offline tests or studies"):
        reproduce("claims", tmp_path, run=False)

"""The authors' protocol: what it fixes, that a ledger keeps it, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from tiny import Tiny

import metalic as mt
from metalic.errors import StudyError
from metalic.pinn.options import SolverOptions
from metalic.study import Study
from metalic.study.protocol import AUTHORS, counted_once, find_protocol


@pytest.mark.parametrize("name", sorted(AUTHORS.families))
def test_it_fixes_data_inputs_and_weights(name: str) -> None:
    family = AUTHORS.family(mt.find_family(name))
    poisson = name.startswith("poisson")
    assert getattr(family, "final_data", None) is (None if poisson else True)
    options = AUTHORS.options(family, SolverOptions(hidden=(4,)))
    assert options.scaling == ("none" if poisson else "subdomain")
    assert options.hidden == (4,)
    assert options.lambda_interface == counted_once(family, 5.0)
    by_condition = SolverOptions(lambda_interface={"u": 3.0})
    assert AUTHORS.options(family, by_condition).lambda_interface == {"u": 3.0}  # taken as it is
    assert AUTHORS.training(None).name == "paper"
    assert AUTHORS.training("quick").name == "quick"


def test_an_interface_counts_once() -> None:
    """5 (1/n) sum of squares over each interface, from a loss that runs over ordered pairs."""
    weights = counted_once(mt.find_family("poisson"), 5.0)
    u, v = np.random.default_rng(0).normal(size=(2, 7))
    for name, term in (("u", u - v), ("uavg", (u - v) / 2)):
        pairs = 2 * np.mean(term**2)  # (1, 2) and (2, 1)
        wanted = np.mean((u - v) ** 2) if name == "u" else 2 * np.mean((u - (u + v) / 2) ** 2)
        assert weights[name] * pairs == pytest.approx(5.0 * wanted)


def test_a_ledger_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    Study(path, "advection", protocol="authors").close()
    with Study(path) as study:
        assert study.settings.schedule.name == "paper"
        assert (study.settings.bandit_settings.kernel, study.settings.bandit_settings.gp) == ("paper", "plain")
        assert study.family.final_data is True
    Study(path, "advection", protocol="authors").close()
    Study(tmp_path / "b.db", "advection").close()
    with pytest.raises(StudyError, match="was created without a protocol, not with 'authors'"):
        Study(tmp_path / "b.db", "advection", protocol="authors")


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"no protocol 'author': allowed are authors. Did you mean 'authors'\?"):
        find_protocol("author")
    for family in ("heat", Tiny):
        with pytest.raises(StudyError, match="does not cover family"):
            Study(tmp_path / "a.db", family, protocol="authors")
    with pytest.raises(StudyError, match="has the kernel 'paper', not 'additive'"):
        Study(tmp_path / "a.db", "advection", mt.Sequential(kernel="additive"), protocol="authors")
    assert not list(tmp_path.iterdir())


def test_its_page_names_every_family_and_option() -> None:
    page = (Path(__file__).parents[2] / "docs" / "authors-protocol.md").read_text()
    for name, member in AUTHORS.families.items():
        assert f"`{name}`" in page
        assert all(f"{option}={value!r}".replace("'", '"') in page for option, value in member.options.items())
    assert f'kernel `{AUTHORS.kernel}`, `gp="{AUTHORS.gp}"`' in page

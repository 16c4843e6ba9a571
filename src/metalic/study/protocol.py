"""Named protocols: all the settings of a published set of experiments, chosen by one word.

`authors` is the training of the paper's authors as their released code does it, where the printed text is silent or
differs (docs/authors-protocol.md). A protocol fixes the options of the family, how inputs are scaled, how interfaces
are weighed and the reward model; its schedule is a default. It is kept in a ledger's settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..bandit import Sequential, Settings
from ..conditions import Catalogue
from ..errors import StudyError
from ..families.base import Family
from ..families.registry import BUILT_IN
from ..pinn.options import DEFAULTS, SolverOptions
from ..pinn.schedule import Schedule, find_schedule
from ..registry import Registry

AVERAGE = "uavg"


@dataclass(frozen=True)
class FamilyOptions:
    """What a protocol says about one family: its options, and how inputs are scaled."""

    options: Mapping[str, Any]
    scaling: str


@dataclass(frozen=True)
class Protocol:
    """A protocol for some of the built-in families."""

    name: str
    schedule: str
    kernel: str
    gp: str
    families: Mapping[str, FamilyOptions] = field(hash=False)

    def family(self, given: Family) -> Family:
        """The family with the options of this protocol."""
        if given.name not in self.families or type(given) is not BUILT_IN.get(given.name):
            known = ", ".join(self.families)
            raise StudyError(f"protocol '{self.name}' does not cover family '{given.name}': it is for {known}")
        return type(given)(**self.families[given.name].options)

    def bandit(self, given: Settings | None) -> Settings:
        """The bandit with the reward model of this protocol."""
        found = Sequential() if given is None else given
        if found.kernel not in (Settings.kernel, self.kernel):
            raise StudyError(f"protocol '{self.name}' has the kernel '{self.kernel}', not '{found.kernel}'")
        return replace(found, kernel=self.kernel, gp=self.gp)

    def training(self, given: Any) -> Schedule:
        """The schedule of this protocol unless another is given."""
        return find_schedule(self.schedule if given is None else given)

    def options(self, family: Family, given: SolverOptions) -> SolverOptions:
        """Options of every solve; those given go first, a single weight of interfaces as this protocol counts it."""
        weight = DEFAULTS.lambda_interface if given.lambda_interface is None else given.lambda_interface
        scaling = given.scaling or self.families[family.name].scaling
        if not isinstance(weight, Mapping):
            weight = counted_once(family, weight)
        return replace(given, scaling=scaling, lambda_interface=weight)


def counted_once(family: Family, weight: Any) -> dict[str, float]:
    """lambda_I by condition such that every interface counts once with this weight. Ours runs over ordered pairs: a
    symmetric condition counts twice, uavg twice with (u - u')^2 / 4 and so with half of its printed weight."""
    return {name: weight if name == AVERAGE else weight / 2 for name in Catalogue(family).names}


_FINAL = FamilyOptions({"final_data": True}, "subdomain")
_SOURCE = FamilyOptions({"boundary_data": "source"}, "none")
AUTHORS = Protocol(
    "authors",
    schedule="paper",
    kernel="paper",
    gp="plain",
    families={
        "poisson": _SOURCE,
        "advection": _FINAL,
        "reaction": _FINAL,
        "burgers": _FINAL,
        "poisson-unit": _SOURCE,
    },
)
PROTOCOLS: Registry[Protocol] = Registry("protocol", Protocol, __name__, StudyError, instances=True)


def find_protocol(given: str | Protocol) -> Protocol:
    """A protocol from its name or itself."""
    return given if isinstance(given, Protocol) else PROTOCOLS.find(str(given))


def agreed(stored: str | None, given: str | Protocol | None, path: Any) -> Protocol | None:
    """The protocol of an existing ledger; one that is given must be the same."""
    wanted = None if given is None else find_protocol(given)
    if wanted is not None and wanted.name != stored:
        how = f"with protocol '{stored}'" if stored else "without a protocol"
        raise StudyError(f"ledger '{path}' was created {how}, not with '{wanted.name}': take another ledger")
    return wanted if wanted or stored is None else PROTOCOLS.named(stored, " One of your own must be passed")

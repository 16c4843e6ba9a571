"""The settings of a study as plain values: written once into its ledger, compared whenever it is opened again."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..bandit import Bandit, Sequential, Settings
from ..conditions import Catalogue, textbook_sets
from ..errors import MetalicError, StudyError
from ..families.base import Family
from ..families.registry import BUILT_IN, find_family
from ..pinn.options import VERSION_0_1, SolverOptions
from ..pinn.schedule import Schedule, find_schedule
from ..validation import integer
from .protocol import Protocol, agreed, find_protocol
from .rewards import REWARDS, Residual, Reward, find_reward

TEXTBOOK = "textbook"
RESIDUAL_POINTS = "residual_points"


@dataclass(frozen=True)
class StudySettings:
    """What a study is about; everything that decides a play besides the plays before it."""

    family: Family
    bandit_settings: Settings
    schedule: Schedule
    reward: Reward
    seed: int
    options: SolverOptions
    spec: str | None = None
    borrowed: Mapping[str, Any] | None = None
    protocol: str | None = None
    catalogue: Catalogue = field(init=False, compare=False)
    bandit: Bandit = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "catalogue", Catalogue(self.family))
        if isinstance(self.bandit_settings, Settings):
            begun = replace(self.bandit_settings, first=self._first())
            object.__setattr__(self, "bandit_settings", begun)
        object.__setattr__(self, "bandit", self._bandit())
        if integer(self.seed) is None:
            raise StudyError(f"a study's seed is an integer of at least 0, not {self.seed!r}")
        object.__setattr__(self, "seed", int(self.seed))
        if any(phase.conditions is not None for phase in self.schedule.phases):
            raise StudyError(f"schedule '{self.schedule.name}' fixes the conditions of a phase; a study chooses them")

    def _first(self) -> tuple[int, ...]:
        """The sets to begin with as indices; one that is named twice is played twice."""
        found: list[int] = []
        for one in self.bandit_settings.first:
            sets = textbook_sets(self.family) if isinstance(one, str) and one.strip() == TEXTBOOK else [one]
            found += [self.catalogue.parse(names).index for names in sets]
        return tuple(found)

    def _bandit(self) -> Bandit:
        """The bandit that plays: settings, conditions, the box of the parameters, phases."""
        boxes = self.family.parameters.values()
        return Bandit(
            settings=self.bandit_settings,
            conditions=self.catalogue.names,
            low=tuple(low for low, _ in boxes),
            high=tuple(high for _, high in boxes),
            phases=len(self.schedule.phases),
        )

    def _residual_points(self) -> str | None:
        """Which numbers of points the residual is measured on: None for the family's own, as in version 0.1."""
        return "schedule" if isinstance(self.reward, Residual) and not self.reward.family_points else None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        newer = {"protocol": self.protocol, RESIDUAL_POINTS: self._residual_points()}  # older ledgers do not have them
        return {key: value for key, value in newer.items() if value is not None} | {
            "family": family_to_dict(self.family, self.catalogue),
            "bandit": self.bandit_settings.to_dict(),
            "schedule": self.schedule.to_dict(),
            "reward": str(self.reward),
            "seed": self.seed,
            "solver": self.options.to_dict(),
            "borrowed": self.borrowed,
            "spec": self.spec,
            "source": source_hash(self.family),
        }


def family_to_dict(family: Family, catalogue: Catalogue) -> dict[str, Any]:
    """A family as plain values, by which two can be compared."""
    return {
        "name": family.name,
        "parameters": {name: list(box) for name, box in family.parameters.items()},
        "conditions": list(catalogue.names),
        "options": {key: repr(value) for key, value in sorted(vars(family).items())},
    }


def new_settings(
    family: str | Family | type[Family],
    bandit: Settings | None,
    schedule: Any,
    reward: Any,
    seed: int | None,
    solver: Mapping[str, Any] | None,
    protocol: str | Protocol | None = None,
) -> StudySettings:
    """Settings for a new study; what is not given has its default, or that of the protocol."""
    found, followed, spec, options = find_family(family), None, None, SolverOptions.of(solver)
    if protocol is not None:
        followed = find_protocol(protocol)
        found, bandit, schedule = followed.family(found), followed.bandit(bandit), followed.training(schedule)
        options, spec = followed.options(found, options), found.name
    plan = find_schedule("fast" if schedule is None else schedule)
    return StudySettings(
        family=found,
        bandit_settings=Sequential() if bandit is None else bandit,
        schedule=plan,
        reward=find_reward(reward, found),
        seed=0 if seed is None else seed,
        options=options.settled(found, plan),
        spec=spec or family_spec(family, found),
        protocol=None if followed is None else followed.name,
    )


def stored_settings(
    values: Mapping[str, Any],
    path: Path,
    family: str | Family | type[Family] | None,
    bandit: Settings | None,
    schedule: Any,
    reward: Any,
    seed: int | None,
    solver: Mapping[str, Any] | None,
    protocol: str | Protocol | None = None,
) -> StudySettings:
    """The settings of an existing study; what is given must agree with them."""
    followed = agreed(values.get("protocol"), protocol, path)
    found = find_family(stored_family(values, path) if family is None else family)
    options = SolverOptions.of(solver)
    if followed is not None:
        found = followed.family(found)
        bandit = None if bandit is None else followed.bandit(bandit)
        options = followed.options(found, options) if solver else options
    stored = SolverOptions.of(values["solver"])
    named = values["schedule"]["name"]  # a name means what it meant when the study was begun
    settings = StudySettings(
        family=found,
        bandit_settings=Settings.from_dict(values["bandit"]) if bandit is None else bandit,
        schedule=_stored_schedule(values, path) if schedule in (None, named) else find_schedule(schedule),
        reward=_stored_reward(values, reward, found),
        seed=values["seed"] if seed is None else seed,
        options=options.over(stored, VERSION_0_1, conditions=Catalogue(found).names),
        spec=values["spec"],
        borrowed=values["borrowed"],
        protocol=None if followed is None else followed.name,
    )
    differing = list(differences(values, settings.to_dict()))
    if differing:
        told = "; ".join(f"{name} was {old} and is now {new}" for name, old, new in differing)
        raise StudyError(
            f"ledger '{path}' was begun with other settings: {told}. Continue with the old ones, or take another file"
        )
    return settings


def differences(old: Any, new: Any, name: str = "") -> list[tuple[str, Any, Any]]:
    """(setting, old, new) for all that differs, nested names joined by dots; the source's hash is not a setting."""
    old, new = _plain(old), _plain(new)
    if _sections(old) and _sections(new) and len(old) == len(new):
        return [one for i, (a, b) in enumerate(zip(old, new), 1) for one in differences(a, b, f"{name}.{i}")]
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        found = []
        for key in {**old, **new}:
            if name or key not in ("source", "spec"):
                inner = f"{name}.{key}" if name else key
                found += differences(old.get(key, _absent(inner)), new.get(key, _absent(inner)), inner)
        return found
    return [] if old == new else [(name, old, new)]


def _sections(value: Any) -> bool:
    """Whether it is a list of mappings, such as the phases of a schedule."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)


def _absent(name: str) -> Any:
    """What a setting means that a ledger does not have: an option of the solver is as in version 0.1."""
    section, _, option = name.partition(".")
    return getattr(VERSION_0_1, option.partition(".")[0], None) if section == "solver" else None


def source_hash(family: Family) -> str | None:
    """A hash of the file that defines a user's family; None for built-in ones, which have the package's version."""
    if type(family) in BUILT_IN.values():
        return None
    try:
        file = inspect.getsourcefile(type(family))
    except (TypeError, OSError):
        return None
    if file is None or not Path(file).is_file():
        return None
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def family_spec(given: Any, family: Family) -> str | None:
    """How the family can be found again without being passed: by name or place, if it has one."""
    if isinstance(given, str):
        place, colon, name = given.rpartition(":")
        return f"{Path(place).resolve()}:{name}" if colon and place.endswith(".py") else given
    kind = BUILT_IN.get(family.name)
    return family.name if kind is not None and family == kind() else None


def stored_family(values: Mapping[str, Any], path: Path) -> str:
    """The name of a built-in family. No code is loaded because a file says so: a family of your own must be passed."""
    spec = values["spec"]
    if not isinstance(spec, str) or spec not in BUILT_IN:
        hint = f"; it was begun with {spec}" if spec else ""
        raise StudyError(
            f"ledger '{path}' is of your family '{values['family']['name']}'{hint}. Give it: --family FILE.py:CLASS, "
            "or family=MyFamily() in Python"
        )
    return spec


def _stored_reward(values: Mapping[str, Any], given: Any, family: Family) -> Reward:
    stored = values["reward"]
    if given is None and stored.partition(":")[0] not in REWARDS:  # no code is loaded because a file says so
        raise StudyError(
            f"the study was begun with your reward '{stored}'. Give it: --reward FILE.py:CLASS, or reward=... in Python"
        )
    found = find_reward(stored if given is None else given, family)
    return Residual(family_points=RESIDUAL_POINTS not in values) if isinstance(found, Residual) else found


def _stored_schedule(values: Mapping[str, Any], path: Path) -> Schedule:
    try:
        return Schedule.from_dict(values["schedule"])
    except MetalicError as error:
        raise StudyError(
            f"the schedule of ledger '{path}' has an optimizer of your own: give it, --schedule FILE.py:NAME, or "
            "schedule=... in Python"
        ) from error


def _plain(value: Any) -> Any:
    """Tuples as lists, dataclasses as mappings: what JSON gives back."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value

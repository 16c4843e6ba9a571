"""The settings of a study as plain values: written once into its ledger, compared whenever it is opened again."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..bandit import Bandit, Paired, Sequential, Settings
from ..choices import Arms, Choice, read_choices
from ..conditions import Catalogue, default_conditions, textbook_sets
from ..errors import ChoiceError, MetalicError, StudyError
from ..families.base import Family
from ..families.registry import BUILT_IN, find_family
from ..pinn.chosen import check_choices, usual_levels
from ..pinn.options import VERSION_0_1, SolverOptions
from ..pinn.schedule import Schedule, find_schedule
from ..sets import Decision, Level
from ..validation import integer
from .protocol import Protocol, agreed, find_protocol
from .rewards import REWARDS, Residual, Reward, find_reward

TEXTBOOK = "textbook"
RESIDUAL_POINTS = "residual_points"
CHOICES = "choices"


@dataclass(frozen=True)
class StudySettings:
    """What defines a study: everything that decides a play, apart from the plays before it."""

    family: Family
    bandit_settings: Settings
    schedule: Schedule
    reward: Reward
    seed: int
    options: SolverOptions
    spec: str | None = None
    borrowed: Mapping[str, Any] | None = None
    protocol: str | None = None
    choices: tuple[Choice, ...] = ()
    catalogue: Catalogue = field(init=False, compare=False)
    bandit: Bandit = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "catalogue", Catalogue(self.family))
        check_choices(self.family, self.options, self.schedule, self.choices)
        if isinstance(self.bandit_settings, Paired):
            self._replace_bandit(champion=self._champion())
        if isinstance(self.bandit_settings, Settings):
            self._replace_bandit(first=self._first())
        object.__setattr__(self, "bandit", self._bandit())
        if integer(self.seed) is None:
            raise StudyError(f"a study's seed is an integer of at least 0, not {self.seed!r}")
        object.__setattr__(self, "seed", int(self.seed))
        if any(phase.conditions is not None for phase in self.schedule.phases):
            raise StudyError(f"schedule '{self.schedule.name}' fixes the conditions of a phase; a study chooses them")

    def _replace_bandit(self, **values: Any) -> None:
        object.__setattr__(self, "bandit_settings", replace(self.bandit_settings, **values))

    @property
    def arms(self) -> Arms:
        """What can be played."""
        return Arms(self.catalogue.names, self.choices)

    @property
    def usual(self) -> Decision:
        """The arm that is played where nothing was learned: the champion, or the family's defaults."""
        if isinstance(self.bandit_settings, Paired):
            return self.arms.decision(self.bandit_settings.champion_number)
        return self._arm("")

    def _champion(self) -> int:
        """The champion's number."""
        assert isinstance(self.bandit_settings, Paired)
        given: Any = self.bandit_settings.champion
        if given is not None and not isinstance(given, str):
            if integer(given) is None or given >= len(self.arms):
                raise ChoiceError(
                    f"a champion is an arm, written as 'u,c' or 'u,c strip=0.1', or its number from 0 to "
                    f"{len(self.arms) - 1}; not {given!r}"
                )
            return int(given)
        return self.arms.number(self._arm(given or ""))

    def _arm(self, text: str) -> Decision:
        """The arm of a text such as 'u,c strip=0.1'; what it leaves open is as usual."""
        parts = text.split()
        names = [part for part in parts if "=" not in part]
        levels = dict(part.split("=", 1) for part in parts if "=" in part)
        if len(names) > 1:
            raise ChoiceError(f"an arm is written as 'u,c' or 'u,c strip=0.1', not '{text}'")
        unknown = [name for name in levels if name not in [choice.name for choice in self.choices]]
        if unknown:
            raise ChoiceError(
                f"'{text}' is not an arm: this study does not choose '{unknown[0]}'; add --choose {unknown[0]}=..."
            )
        chosen = self.catalogue.parse(names[0]) if names else default_conditions(self.family)
        return Decision(chosen, choices={choice.name: self._level(choice, levels) for choice in self.choices})

    def _level(self, choice: Choice, given: Mapping[str, str]) -> Level:
        """The level that is given, else the usual one, which may not be among the levels."""
        usual = given.get(choice.name, usual_levels(self.family, self.options, self.schedule)[choice.name])
        try:
            return choice.find(usual)
        except ChoiceError as error:
            raise ChoiceError(
                f"the champion is not an arm: {error}. Add {choice.name}={usual} to the levels, or name another "
                f"champion, as in --champion '{default_conditions(self.family)} {choice.labels[0]}'"
            ) from None

    def _first(self) -> tuple[int, ...]:
        """The sets to begin with as numbers of arms; one that is named twice is played twice."""
        found: list[int] = []
        levels = self.usual.choices if self.bandit_settings.first else {}
        for one in self.bandit_settings.first:
            sets = textbook_sets(self.family) if isinstance(one, str) and one.strip() == TEXTBOOK else [one]
            if self.choices and integer(one) is not None:  # the number of an arm, as in a ledger
                found.append(int(one))
            else:
                found += [self.arms.number(Decision(self.catalogue.parse(names), choices=levels)) for names in sets]
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
            choices=self.choices,
        )

    def _residual_points(self) -> str | None:
        """Which numbers of points the residual is measured on: None for the family's own, as in version 0.1."""
        return "schedule" if isinstance(self.reward, Residual) and not self.reward.family_points else None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        newer = {  # older ledgers do not have them
            "protocol": self.protocol,
            RESIDUAL_POINTS: self._residual_points(),
            CHOICES: {choice.name: list(choice.levels) for choice in self.choices} or None,
        }
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
    choices: Any = None,
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
        bandit_settings=(Paired() if choices else Sequential()) if bandit is None else bandit,
        schedule=plan,
        reward=find_reward(reward, found),
        seed=0 if seed is None else seed,
        options=options.settled(found, plan),
        spec=spec or family_spec(family, found),
        protocol=None if followed is None else followed.name,
        choices=read_choices(choices),
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
    choices: Any = None,
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
    named = values["schedule"]["name"]  # a name means what it meant when the study was created
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
        choices=read_choices(values.get(CHOICES) if choices is None else choices),
    )
    differing = list(differences(values, settings.to_dict()))
    if differing:
        new = "; ".join(f"{name} was {old} and is now {now}" for name, old, now in differing)
        raise StudyError(
            f"ledger '{path}' was created with other settings: {new}. Continue with the old ones, or take another file"
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
        hint = f"; it was created with {spec}" if spec else ""
        raise StudyError(
            f"ledger '{path}' is of your family '{values['family']['name']}'{hint}. Give it: --family FILE.py:CLASS, "
            "or family=MyFamily() in Python"
        )
    return spec


def _stored_reward(values: Mapping[str, Any], given: Any, family: Family) -> Reward:
    stored = values["reward"]
    if given is None and stored.partition(":")[0] not in REWARDS:  # no code is loaded because a file says so
        raise StudyError(
            f"the study was created with your reward '{stored}'. Give it: --reward FILE.py:CLASS, or reward=... in "
            "Python"
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

"""The settings of a study as plain values: written once into its ledger, compared whenever it is opened again."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..bandit import Bandit, Sequential, Settings
from ..conditions import Catalogue, textbook_sets
from ..errors import MetalicError, StudyError
from ..families.base import Family
from ..families.registry import BUILT_IN, find_family
from ..geometry.sampling import Points
from ..pinn.network import Network
from ..pinn.optimizers import LBFGS, Adam, GaussNewton, Optimizer
from ..pinn.schedule import Phase, Schedule, find_schedule
from ..validation import integer
from .protocol import Protocol, agreed, find_protocol
from .reward import Reward

OPTIMIZERS: dict[str, type[Optimizer]] = {kind.name: kind for kind in (Adam, LBFGS, GaussNewton)}
TEXTBOOK = "textbook"
SOLVER = ("precision", "sampling", "scaling", "hidden", "points", "lambda_boundary", "lambda_interface")


@dataclass(frozen=True)
class StudySettings:
    """What a study is about; everything that decides a play besides the plays before it."""

    family: Family
    bandit_settings: Settings
    schedule: Schedule
    reward: Reward
    seed: int
    solver: Mapping[str, Any]
    spec: str | None = None
    borrowed: Mapping[str, Any] | None = None
    protocol: str | None = None
    catalogue: Catalogue = field(init=False, compare=False)
    bandit: Bandit = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "catalogue", Catalogue(self.family))
        if isinstance(self.bandit_settings, Settings):
            begun = dataclasses.replace(self.bandit_settings, first=self._first())
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

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        protocol = {} if self.protocol is None else {"protocol": self.protocol}  # older ledgers do not have it
        return protocol | {
            "family": {
                "name": self.family.name,
                "parameters": {name: list(box) for name, box in self.family.parameters.items()},
                "conditions": list(self.catalogue.names),
                "options": {key: repr(value) for key, value in sorted(vars(self.family).items())},
            },
            "bandit": self.bandit_settings.to_dict(),
            "schedule": schedule_to_dict(self.schedule),
            "reward": str(self.reward),
            "seed": self.seed,
            "solver": {key: _plain(value) for key, value in sorted(self.solver.items())},
            "borrowed": self.borrowed,
            "spec": self.spec,
            "source": source_hash(self.family),
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
    found, followed, spec = find_family(family), None, None
    if protocol is not None:
        followed = find_protocol(protocol)
        found, bandit, schedule = followed.family(found), followed.bandit(bandit), followed.training(schedule)
        solver, spec = followed.solver(found, solver), found.name
    return StudySettings(
        family=found,
        bandit_settings=Sequential() if bandit is None else bandit,
        schedule=find_schedule("fast" if schedule is None else schedule),
        reward=Reward.find(reward, found),
        seed=0 if seed is None else seed,
        solver=check_solver(solver or {}),
        spec=spec or _spec(family, found),
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
    found = find_family(_stored_family(values, path) if family is None else family)
    if followed is not None:
        found = followed.family(found)
        bandit = None if bandit is None else followed.bandit(bandit)
        solver = None if solver is None else followed.solver(found, solver)
    settings = StudySettings(
        family=found,
        bandit_settings=Settings.from_dict(values["bandit"]) if bandit is None else bandit,
        schedule=_stored_schedule(values, path) if schedule is None else find_schedule(schedule),
        reward=Reward.find(values["reward"] if reward is None else reward, found),
        seed=values["seed"] if seed is None else seed,
        solver=check_solver(values["solver"] if solver is None else solver),
        spec=values["spec"],
        borrowed=values["borrowed"],
        protocol=None if followed is None else followed.name,
    )
    differing = list(differences(values, settings.to_dict()))
    if differing:
        told = "; ".join(f"{name} was {old} and is now {new}" for name, old, new in differing)
        raise StudyError(
            f"ledger '{path}' was begun with other settings: {told}. Go on with the old ones, or begin another ledger"
        )
    return settings


def differences(old: Any, new: Any, name: str = "") -> list[tuple[str, Any, Any]]:
    """(setting, old, new) for all that differs, nested names joined by dots; the source's hash is not a setting."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        found = []
        for key in {**old, **new}:
            if name or key not in ("source", "spec"):
                found += differences(old.get(key), new.get(key), f"{name}.{key}" if name else key)
        return found
    return [] if _plain(old) == _plain(new) else [(name, old, new)]


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


def _spec(given: Any, family: Family) -> str | None:
    """How the family can be found again without being passed: by name or place, if it has one."""
    if isinstance(given, str):
        place, colon, name = given.rpartition(":")
        return f"{Path(place).resolve()}:{name}" if colon and place.endswith(".py") else given
    kind = BUILT_IN.get(family.name)
    return family.name if kind is not None and family == kind() else None


def _stored_family(values: Mapping[str, Any], path: Path) -> str:
    """The name of a built-in family. No code is loaded because a file says so: a family of your own must be passed."""
    spec = values["spec"]
    if not isinstance(spec, str) or spec not in BUILT_IN:
        hint = f"; it was begun with {spec}" if spec else ""
        raise StudyError(
            f"ledger '{path}' is of your family '{values['family']['name']}'{hint}. Give it: --family FILE.py:CLASS, "
            "or family=MyFamily() in Python"
        )
    return spec


def check_solver(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of every solve, as `solve` takes them."""
    if not isinstance(options, Mapping):
        raise StudyError(f"solver options are a mapping such as {{'hidden': (20, 20)}}, not {options!r}")
    found = dict(options)
    unknown = [key for key in found if key not in SOLVER]
    if unknown:
        raise StudyError(f"no solver option '{unknown[0]}': allowed are {', '.join(SOLVER)}")
    if "hidden" in found:
        hidden = found["hidden"]
        widths = tuple(hidden) if isinstance(hidden, Iterable) and not isinstance(hidden, str) else hidden
        found["hidden"] = Network(1, 1, widths).hidden
    points = found.get("points")
    if isinstance(points, Mapping):
        try:
            found["points"] = Points(**points)
        except TypeError as error:
            raise StudyError(f"points are Points(collocation, boundary, interface), not {points!r}") from error
    return found


def schedule_to_dict(schedule: Schedule) -> dict[str, Any]:
    """A schedule as plain values."""
    phases = []
    for phase in schedule.phases:
        optimizer = {"name": phase.optimizer.name, **_plain(phase.optimizer)}
        budget = {key: getattr(phase, key) for key in ("iterations", "resample", "adaptive")}
        phases.append({"optimizer": optimizer, **budget})
    others = {key: getattr(schedule, key) for key in ("name", "sampling", "scaling", "interface_line")}
    return {"phases": phases, **others}


def _stored_schedule(values: Mapping[str, Any], path: Path) -> Schedule:
    stored = dict(values["schedule"])
    try:
        phases = []
        for phase in stored.pop("phases"):
            options = dict(phase)
            optimizer = dict(options.pop("optimizer"))
            phases.append(Phase(OPTIMIZERS[optimizer.pop("name")](**optimizer), **options))
        return Schedule(phases=tuple(phases), **stored)
    except (KeyError, TypeError, MetalicError) as error:
        raise StudyError(f"the schedule of ledger '{path}' has an optimizer of your own: pass schedule=...") from error


def _plain(value: Any) -> Any:
    """Tuples as lists, dataclasses as mappings: what JSON gives back."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value

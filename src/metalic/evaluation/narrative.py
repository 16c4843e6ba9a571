"""What a study has learned, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from ..bandit import Compared, Knowledge
from ..choices import Arms, levels_text
from ..families.base import parameters_text
from ..study import Study
from ..study.recommendation import NORMAL_95, Recommendation, caution, plays_of
from .figures import set_name
from .rules import PIECES, Piece, expected_rewards, grid, intervals, recommended
from .standing import finished_plays

CONTEXTS = 25  # parameters over which effects are averaged
OFTEN = 0.1  # share of the parameters


def sentences(study: Study) -> list[str]:
    """Describe a study: its errors, which sets to use where, and which conditions help or harm.

    Args:
        study: A study with finished plays.

    Returns:
        Plain sentences.
    """
    learned, arms = study.learned, study.settings.arms
    few = caution(plays_of(learned))
    found = [how_it_went(study), *([few[0].upper() + few[1:] + "."] if few else []), phases_sentence(study)]
    found += champion_sentences(study)
    rules = learned_rules(learned, study.family.parameters)
    for phase, pieces in enumerate(rules):
        where = "" if len(rules) == 1 else f"In phase {phase + 1}: "
        found.append(where + rule_sentence(pieces, arms, tuple(study.family.parameters), bool(few)))
    found += _reading(rules, arms)
    found += [effect_sentence(learned, phase) for phase in range(len(rules))]
    found += choice_sentences(learned)
    return [*found, *_outlook(study)]


def _reading(rules: Sequence[Sequence[Piece]], arms: Arms) -> list[str]:
    """How a rule is to be read."""
    found = [
        f"The rule has at most {PIECES} intervals, a set for each that is best on average over it: `metalic recommend` "
        "looks at one PDE and may name another set whose expected reward is nearly the same."
    ]
    if any(not arms.decision(piece.arm).conditions.names for pieces in rules for piece in pieces):
        found.append(
            "{none} means no interface condition in that phase: each network is then trained by the equation and the "
            "data of its own subdomain, and a later phase joins them."
        )
    return found


def learned_rules(learned: Knowledge, boxes: Mapping[str, tuple[float, float]]) -> list[tuple[Piece, ...]]:
    """A rule for every decision: intervals of the parameter if there is one, else one set for the parameters played."""
    if len(boxes) == 1:
        ((low, high),) = boxes.values()
        if isinstance(learned, Compared):
            return [recommended(learned, low, high)]
        means = expected_rewards(learned, [(value,) for value in grid(low, high)])
        return [intervals(table, low, high) for table in means]
    played = [play.context for play in learned.history]
    return [intervals(table, 0.0, 1.0, pieces=1) for table in expected_rewards(learned, played)]


def how_it_went(study: Study) -> str:
    """The errors of plays with random and with chosen sets."""
    plays = [(play, play.error) for play in finished_plays(study.plays) if play.taught and play.error is not None]
    random = [error for play, error in plays if study.was_random(play)]
    chosen = [error for play, error in plays if play.phases[0].mean is not None]
    text = f"{len(finished_plays(study.plays))} plays of {study.family.name}"
    if random:
        text += f"; the median error of {len(random)} plays with random sets was {np.median(random):.1e}"
    if chosen:
        text += f"; that of {len(chosen)} plays with sets chosen by the bandit was {np.median(chosen):.1e}"
    return text + "."


def champion_sentences(study: Study) -> list[str]:
    """What the champion is, and whether anything beats it."""
    learned = study.learned
    if not isinstance(learned, Compared):
        return []
    champion = _arm(study.settings.arms, learned.settings.champion_number)
    text = f"Every challenger was played against the champion, {champion}."
    if learned.level:
        text += " Nothing is expected to be better than it by more than 12 % anywhere."
    return [text]


def phases_sentence(study: Study) -> str:
    """What the phases are."""
    phases = [f"{phase.iterations} iterations of {phase.optimizer.name}" for phase in study.settings.schedule.phases]
    if len(phases) == 1:
        return f"A play is {phases[0]}."
    if study.settings.bandit.decisions == 1:
        return f"A play is {', then '.join(phases)}, with one set throughout."
    return "A play has a set for each phase: " + "; ".join(f"{i}. {one}" for i, one in enumerate(phases, 1)) + "."


def _arm(arms: Arms, number: int) -> str:
    """'{u, c}', or '{u, c} with strip=0.1'."""
    decision = arms.decision(number)
    levels = levels_text(decision.choices)
    return "{" + set_name(decision.conditions.names) + "}" + (f" with {levels}" if levels else "")


def rule_sentence(pieces: Sequence[Piece], arms: Arms, parameters: Sequence[str], early: bool = False) -> str:
    """'For s < 4 use {u, c}; for s from 4 to 31 use {c}; above 31 use {uavg, c}.' Early, a guess."""
    use, end = ("try", ": a first guess.") if early else ("use", ".")
    sets = [_arm(arms, piece.arm) for piece in pieces]
    if len(pieces) == 1:
        return f"{use.capitalize()} {sets[0]} for every {' and '.join(parameters) or 'PDE'}{end}"
    (name,) = parameters
    first, *middle, last = pieces
    parts = [f"For {name} < {first.high:.3g} {use} {sets[0]}"]
    for piece, chosen in zip(middle, sets[1:]):
        parts.append(f"for {name} from {piece.low:.3g} to {piece.high:.3g} {use} {chosen}")
    return "; ".join([*parts, f"above {last.low:.3g} {use} {sets[-1]}"]) + end


def effect_sentence(learned: Knowledge, phase: int) -> str:
    """Which conditions help, harm, do either or make no clear difference.

    Effects are averaged over the parameters of plays and over the other conditions. In the last phase a decade of
    reward is a factor of ten in error.
    """
    names = learned.bandit.conditions
    means, stds = (found[:, : len(names)] for found in played_effects(learned, phase))
    mean, clear = means.mean(axis=0), np.abs(means.mean(axis=0)) > NORMAL_95 * stds.mean(axis=0)
    surely = np.abs(means) > NORMAL_95 * stds
    either = np.minimum(np.mean(surely & (means > 0), axis=0), np.mean(surely & (means < 0), axis=0)) > OFTEN
    last = phase == learned.bandit.decisions - 1
    groups: dict[str, list[str]] = {"helps": [], "harms": [], "either": [], "neither": []}
    for i in np.argsort(-np.abs(mean), kind="stable"):
        if either[i]:
            groups["either"].append(names[i])
        elif clear[i]:
            groups["helps" if mean[i] > 0 else "harms"].append(_strength(names[i], mean[i], last))
        else:
            groups["neither"].append(names[i])
    parts = [f"switching on {', '.join(groups[what])} {what}" for what in ("helps", "harms") if groups[what]]
    if groups["either"]:
        parts.append(f"{', '.join(groups['either'])} helps or harms, depending on the parameters")
    if groups["neither"]:
        others = ", ".join(groups["neither"])
        parts.append(f"{others}: no clear difference" if parts else "no condition makes a clear difference")
    text = ("" if learned.bandit.decisions == 1 else f"In phase {phase + 1}, ") + "; ".join(parts)
    return text[0].upper() + text[1:] + "."


def choice_sentences(learned: Knowledge) -> list[str]:
    """For each choice, how much its levels matter, and which is best where."""
    space, found = learned.bandit.space, []
    means, _ = played_effects(learned, learned.bandit.decisions - 1)
    start = len(space.conditions)
    for choice in space.choices:
        table = means[:, start : start + len(choice.levels)]
        start += len(choice.levels)
        labels = [choice.labels[i] for i in dict.fromkeys(table.argmax(axis=1).tolist())]
        average = table.mean(axis=0)
        factor = 10 ** float(average.max() - average.min())
        text = f"Of {choice.name}, {choice.labels[int(average.argmax())]} is best on average over the parameters played"
        text += f"; the worst level costs a factor of {float(f'{factor:.2g}'):g}"
        found.append(text + (f"; best somewhere: {', '.join(labels)}." if len(labels) > 1 else "."))
    return found


def _strength(name: str, decades: float, last: bool) -> str:
    size = abs(decades)
    return f"{name} (a factor of {float(f'{10**size:.2g}'):g})" if last else f"{name} ({size:.2g} decades of reward)"


def played_effects(learned: Knowledge, phase: int) -> tuple[Float[np.ndarray, "n s"], Float[np.ndarray, "n s"]]:
    """Effects of the conditions, and their deviations, at some of the parameters that were played."""
    played = [play.context for play in learned.history]
    chosen = played[:: max(1, len(played) // CONTEXTS)][:CONTEXTS]
    found = [learned.effects(context, phase=phase) for context in chosen]
    return np.array([one.mean for one in found]), np.array([one.std for one in found])


def _outlook(study: Study) -> list[str]:
    """What to expect of the recommended sets over the box of the parameters."""
    boxes = study.family.parameters
    shares = (0.1, 0.5, 0.9) if boxes else (0.5,)
    advice = [
        study.recommend({name: low + share * (high - low) for name, (low, high) in boxes.items()}) for share in shares
    ]
    sure = [_certainty(advice)] if advice[0].comparison is None else []
    expected = [one.expected for one in advice if one.expected is not None]
    if not expected:
        return sure
    low, high = min(expected), max(expected)
    span = f"{low:.1e}" if len(expected) == 1 else f"between {low:.1e} and {high:.1e}"
    article = "an" if (advice[0].meaning or "").startswith(tuple("aeiou")) else "a"
    return [*sure, f"With the recommended sets {article} {advice[0].meaning} {span} is expected."]


def _certainty(advice: Sequence[Recommendation]) -> str:
    """How surely the recommended sets of the last phase beat the next best."""
    found = [(one.parameters, one.phases[-1].probability or 0.5) for one in advice]
    each = [f"{value:.2f}" + (f" at {parameters_text(at)}" if at else "") for at, value in found]
    return f"The recommended set beats the next best with probability {', '.join(each)} (0.5 is a toss-up)."

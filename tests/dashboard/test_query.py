"""The state of a page survives its address, and says which plays are shown."""

from urllib.parse import parse_qsl

from metalic.dashboard.query import Query
from metalic.evaluation.standing import RANDOM, Standing
from metalic.study import PhaseRow, PlayRow

STANDING = Standing({"bandit": {}, "family": {"parameters": {"a": [0, 1]}}})


def row(number: int, conditions: tuple[str, ...], error: float | None, status: str = "done") -> PlayRow:
    return PlayRow(number, status, {"a": 1 / number}, number, (PhaseRow(conditions, 1, (1,), error=error),))


ROWS = [row(1, ("u",), 0.3), row(2, ("u", "x"), 0.1), row(3, ("x",), 0.2), row(4, ("u", "x"), None, "failed")]


def numbers(**state: object) -> list[int]:
    return [one.number for one in Query(**state).rows(ROWS, STANDING)]  # type: ignore[arg-type]


def test_an_address_holds_the_state() -> None:
    query = Query("error", False, "done", RANDOM, "u,x", "a", {"a": "0.5"}, "1")
    assert Query.of(dict(parse_qsl(query.address()[1:]))) == query
    assert Query().address() == "?"
    assert Query.of({"unknown": "1", "down": "0"}) == Query(down=False)


def test_plays_are_filtered_and_sorted() -> None:
    assert numbers() == [4, 3, 2, 1]
    assert numbers(sort="error", down=False) == [2, 3, 1, 4]  # without an error last
    assert numbers(sort="a", down=True) == [1, 2, 3, 4]
    assert numbers(words="u, x") == [4, 2]
    assert numbers(status="failed") == [4]
    assert numbers(kind=RANDOM) == [3, 2, 1]


def test_a_click_turns_the_order() -> None:
    assert "down=0" in Query(sort="error", down=True).sorted_by("error")
    assert "down" not in Query(sort="error", down=False).sorted_by("error")

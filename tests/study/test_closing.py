"""A `with` block closes what it opened, whatever happened in it."""

import pytest

from metalic.evaluation.trials import Trials
from metalic.study import Ledger, Library, Study
from metalic.study.closing import Closing
from metalic.study.reading import Reading


class Door(Closing):
    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_a_block_closes_what_it_opened() -> None:
    with Door() as door:
        assert isinstance(door, Door)
        assert door.closed == 0
    assert door.closed == 1


def test_an_error_closes_it_too_and_is_raised() -> None:
    door = Door()
    with pytest.raises(ZeroDivisionError), door:
        raise ZeroDivisionError
    assert door.closed == 1


@pytest.mark.parametrize("kind", [Ledger, Library, Reading, Study, Trials])
def test_all_files_are_closed_in_this_way(kind: type) -> None:
    assert issubclass(kind, Closing)
    assert kind.close is not Closing.close

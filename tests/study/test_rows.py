"""Rows of a ledger: the compact form of play numbers."""

import pytest

from metalic.study.rows import Numbers


def test_numbers_are_kept_as_ranges() -> None:
    numbers = (-3, -2, 0, 1, 2, 7)
    kept = Numbers.of(reversed(numbers))
    assert kept.to_list() == [[-3, -2], [0, 2], [7, 7]]
    assert kept == Numbers(kept.to_list()) == numbers
    assert (len(kept), list(kept), kept[-1], kept[2], kept[1:4]) == (6, [*numbers], 7, 0, numbers[1:4])
    assert [number in kept for number in (-4, -2, -1, 7, 8)] == [False, True, False, True, False]
    assert len(Numbers([[1, 10**15]])) == 10**15  # in no time
    for wrong in ([[2, 1]], [[1, 3], [3, 4]], [[5, 6], [1, 2]]):
        with pytest.raises(ValueError, match="overlap"):
            Numbers(wrong)

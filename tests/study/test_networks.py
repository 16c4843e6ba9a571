"""Networks as rows: a round trip, thinned histories, and rows that no ledger has written."""

from dataclasses import replace

import numpy as np
import pytest
from small import Line, untrained

from metalic.study.networks import COLUMNS, HISTORY, Networks, _checksum, thinned


def test_a_round_trip() -> None:
    one = Networks.of(untrained(Line), branch=2)
    found = Networks.read(one.values(5))
    np.testing.assert_array_equal(found.theta, one.theta)
    np.testing.assert_array_equal(found.centre, one.centre)
    assert (found.hidden, found.geometry, found.history, found.branch) == (
        one.hidden,
        one.geometry,
        one.history,
        one.branch,
    )


def test_an_activation_is_kept_beside_the_widths() -> None:
    one = Networks.of(replace(untrained(Line), activation="sine"))
    assert Networks.read(one.values(5)).activation == "sine"
    assert Networks.read(one.values(5)).hidden == one.hidden
    plain = Networks.of(untrained(Line))
    assert dict(zip(COLUMNS, plain.values(5)))["hidden"] == "[5]"  # as before there were activations
    assert Networks.read(plain.values(5)).activation == "tanh"


def test_histories_are_thinned_and_keep_their_ends() -> None:
    (record, _) = untrained(Line).phases
    long = replace(record, history=tuple((n, n / 10, 1e-3, None) for n in range(10, 1210, 10)))
    kept = thinned((long, long))
    assert 40 <= len(kept) <= HISTORY
    assert {(0, 1200), (1, 1200), (0, 10)} <= {moment[:2] for moment in kept}
    assert [moment[:2] for moment in kept] == sorted(moment[:2] for moment in kept)
    assert thinned((replace(record, history=()),)) == ()


@pytest.mark.parametrize(
    "change", [{"shape": "[2, 1000000000000]"}, {"dtype": "object"}, {"shape": "[2, 18]"}, {"shape": "[0, 16]"}]
)
def test_hostile_rows_with_a_right_checksum_are_refused(change: dict[str, str]) -> None:
    row = dict(zip(COLUMNS, Networks.of(untrained(Line)).values(1))) | change
    values = [row[name] for name in COLUMNS[:-1]]
    with pytest.raises(ValueError):
        Networks.read([*values, _checksum(values)])

"""Saving and loading: equal values after a round trip, and a clear error for everything that is not such a file."""

import io
import json
import stat
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small import Line, Quad, untrained

from metalic.errors import FileError
from metalic.families import Poisson
from metalic.pinn import Solution
from metalic.pinn.optimizers import Status

ASSETS = Path(__file__).parent / "assets"


@pytest.fixture
def saved(tmp_path):
    solution = untrained(Poisson, {"s": 20.0})
    return solution, solution.save(tmp_path / "solution.npz")


# --- Round trips -----------------------------------------------------------------------------------------------------


def test_a_file_of_version_0_1_opens_with_the_values_it_had():
    """Written by version 0.1.0, with the numbers that version gave."""
    truth = json.loads((ASSETS / "solution-v0.1.json").read_text())
    loaded = Solution.load(ASSETS / "solution-v0.1.npz")
    np.testing.assert_allclose(loaded(np.array(truth["points"])), truth["values"], rtol=1e-12)
    assert (loaded.error, loaded.parameters, loaded.seed) == (truth["error"], truth["parameters"], truth["seed"])
    assert [list(one) for one in loaded.conditions] == truth["conditions"]
    assert list(loaded.hidden) == truth["hidden"]


def test_a_round_trip_gives_equal_values(saved):
    solution, path = saved
    loaded = Solution.load(path)
    points = np.random.default_rng(0).random((50, 2))
    np.testing.assert_array_equal(loaded(points), solution(points))
    assert loaded.to_dict(history=True) == solution.to_dict(history=True)
    assert loaded.family == solution.family
    assert loaded.phases == solution.phases
    for mine, theirs in zip(loaded.collocation, solution.collocation, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert repr(loaded) == repr(solution)
    loaded.plot()


@pytest.mark.parametrize("status", list(Status))
def test_every_stop_reason_survives(status, tmp_path):
    solution = untrained(Poisson, status=status)
    assert Solution.load(solution.save(tmp_path / "a.npz")).phases[-1].status is status


def test_a_system_and_its_weights_in_single_precision(tmp_path):
    solution = untrained(Quad, error=None)
    object.__setattr__(solution, "theta", solution.theta.astype(np.float32))
    loaded = Solution.load(solution.save(tmp_path / "a.npz"), family=Quad)
    assert loaded.theta.dtype == np.float32
    assert loaded.error is None
    np.testing.assert_array_equal(loaded(x=0.4, t=1.0), solution(x=0.4, t=1.0))


def meta_of(path):
    with np.load(path, allow_pickle=False) as file:
        return json.loads(str(file["meta"]))


def test_an_activation_is_kept_and_older_versions_refuse_it(tmp_path):
    solution = replace(untrained(Line), activation="sine")
    path = solution.save(tmp_path / "a.npz")
    loaded = Solution.load(path, Line)
    assert (loaded.activation, meta_of(path)["version"]) == ("sine", 2)
    np.testing.assert_array_equal(loaded(x=0.3), solution(x=0.3))
    assert solution(x=0.3) != pytest.approx(untrained(Line)(x=0.3), rel=1e-3)
    plain = meta_of(untrained(Line).save(tmp_path / "b.npz"))
    assert plain["version"] == 1
    assert "activation" not in plain


def test_a_file_holds_no_pickle_and_keeps_its_name(saved, tmp_path):
    solution, path = saved
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as part:
                np.lib.format.read_magic(part)
                _, _, dtype = np.lib.format.read_array_header_1_0(part)
                assert not dtype.hasobject
    assert solution.save(tmp_path / "no-suffix") == tmp_path / "no-suffix"
    assert Solution.load(str(tmp_path / "no-suffix"))(x=0.5, y=0.5) == solution(x=0.5, y=0.5)


def test_a_file_is_replaced_whole_or_not_at_all(saved, tmp_path, monkeypatch):
    _, path = saved
    before = path.read_bytes()

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(FileError, match=r"cannot write .*solution\.npz': No space left on device"):
        untrained(Poisson, seed=1).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["solution.npz"]


@pytest.mark.parametrize("place", ["missing/solution.npz", "."])
def test_what_cannot_be_written_is_reported(place, tmp_path):
    with pytest.raises(FileError, match="cannot write"):
        untrained(Poisson).save(tmp_path / place)
    assert list(tmp_path.iterdir()) == []


def test_a_file_has_the_usual_rights(saved, tmp_path):
    (tmp_path / "other").write_text("")
    assert stat.S_IMODE(saved[1].stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


# --- Own families ----------------------------------------------------------------------------------------------------


def test_an_own_family_is_passed_in(tmp_path):
    solution = untrained(Line)
    path = solution.save(tmp_path / "a.npz")
    with pytest.raises(FileError, match=r"your family 'line': pass it, as in load\(path, family=MyFamily\)"):
        Solution.load(path)
    assert Solution.load(path, family=Line)(x=0.3) == solution(x=0.3)
    assert Solution.load(path, family=Line())(x=0.3) == solution(x=0.3)


@pytest.mark.parametrize("other", [Poisson, Line().undivided(), "poisson"])
def test_another_family_is_refused(other, tmp_path):
    path = untrained(Line).save(tmp_path / "a.npz")
    with pytest.raises(FileError, match="holds a solution of 'line', which is not the family"):
        Solution.load(path, family=other)


# --- Damage ----------------------------------------------------------------------------------------------------------


def refuses(path):
    with pytest.raises(FileError) as caught:
        Solution.load(path)
    assert str(path) in str(caught.value)


def test_a_truncated_file_is_refused_wherever_it_ends(saved):
    _, path = saved
    whole = path.read_bytes()
    for length in [0, 1, 4, 30, *range(97, len(whole), 97), len(whole) - 22, len(whole) - 1]:
        path.write_bytes(whole[:length])
        refuses(path)


def test_a_flipped_byte_is_noticed_or_harmless(saved):
    """One bit of every byte, all bits of every seventh. The few that may change unseen (dates, versions) leave all
    that is loaded as it was."""
    solution, path = saved
    whole, expected = path.read_bytes(), solution.to_dict(history=True)
    flips = [*((at, 0x01) for at in range(len(whole))), *((at, 0xFF) for at in range(0, len(whole), 7))]
    unnoticed = 0
    for at, mask in flips:
        damaged = bytearray(whole)
        damaged[at] ^= mask
        path.write_bytes(damaged)
        try:
            loaded = Solution.load(path)
        except FileError:
            continue
        unnoticed += 1
        np.testing.assert_array_equal(loaded.theta, solution.theta)
        np.testing.assert_array_equal(loaded.slope, solution.slope)
        assert loaded.to_dict(history=True) == expected
    assert unnoticed < 0.1 * len(flips)


def contents(path):
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def test_an_exchanged_array_is_noticed(saved):
    _, path = saved
    parts = contents(path)
    np.savez(path, **parts | {"theta": parts["theta"] + 1e-9})
    with pytest.raises(FileError, match="checksum"):
        Solution.load(path)
    np.savez(path, **{name: part for name, part in parts.items() if name != "slope"})
    refuses(path)


@pytest.mark.parametrize(
    "change",
    [
        {"version": None},
        {"version": "one"},
        {"phases": None},
        {"phases": []},
        {"hidden": [7]},
        {"hidden": None},
        {"family": 5},
        {"parameters": [1]},
        {"subdomains": 3},
        {"format": "other"},
    ],
    ids=lambda change: "-".join(map(str, next(iter(change.items())))),
)
def test_an_edited_description_is_refused(change, saved):
    """Keys that are missing (None), of another type, or that do not fit the arrays."""
    _, path = saved
    parts = contents(path)
    meta = json.loads(str(parts["meta"])) | change
    parts["meta"] = np.array(json.dumps({key: value for key, value in meta.items() if value is not None}))
    np.savez(path, **parts)
    refuses(path)


def test_a_newer_format_says_so(saved):
    _, path = saved
    parts = contents(path)
    parts["meta"] = np.array(json.dumps(json.loads(str(parts["meta"])) | {"version": 99}))
    np.savez(path, **parts)
    with pytest.raises(FileError, match=r"format version 99.* upgrade"):
        Solution.load(path)


def archive(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def bare(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello, I am a text file\n",
        b'{"format": "metalic-solution"}',
        archive(a=np.ones(3)),
        archive(meta=np.ones(3)),
        archive(meta=np.array("not json")),
        archive(meta=np.array("[1, 2]")),
        archive(meta=np.array('{"format": "metalic-solution"}')),
        archive(meta=np.array([{"code": 1}], dtype=object)),
        archive(meta=np.array('{"format": "metalic-solution"}'), theta=np.array([print], dtype=object)),
        bare(np.ones(3)),
        bare(np.array([None], dtype=object)),
        b"PK\x05\x06" + bytes(18),
        b"\x80\x04\x95\x05",
    ],
    ids=[
        "empty", "text", "json", "foreign", "numbers", "no-json", "list", "format-only", "pickled-meta",
        "pickled-array", "npy", "pickled-npy", "empty-zip", "pickle",
    ],
)  # fmt: skip
def test_a_foreign_file_is_refused(content, tmp_path):
    path = tmp_path / "foreign.npz"
    path.write_bytes(content)
    refuses(path)


def test_what_is_not_there_is_reported(tmp_path):
    with pytest.raises(FileError, match=r"cannot read .*nothing\.npz': No such file"):
        Solution.load(tmp_path / "nothing.npz")
    with pytest.raises(FileError, match="cannot read"):
        Solution.load(tmp_path)

"""Trackers, against the real libraries writing to local files."""

import struct
import sys
from pathlib import Path

import decay
import pytest

import metalic as mt
from metalic.errors import FileError
from metalic.pinn import Report
from metalic.study.driver import StudyProgress
from metalic.tracking import MLflow, TensorBoard, Tracker, measured

REPORTS = [
    Report(0, 2, "adam", 0, 10, None, None, 0.0),
    Report(0, 2, "adam", 10, 10, 0.5, 0.3, 1.0),
    Report(1, 2, "adam", 0, 20, None, None, 0.0),
    Report(1, 2, "adam", 10, 20, 0.25, None, 1.0),
    Report(1, 2, "adam", 20, 20, float("nan"), 100.0, 2.0),
]
LOSSES, ERRORS = [(10, 0.5), (20, 0.25)], [(10, 0.3), (30, 100.0)]


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What an event file holds, read by the format's own definition: length, checksum, a message, checksum."""
    from tensorboardX.proto.event_pb2 import Event

    (path,) = folder.glob("events.out.tfevents.*")
    data, place, found = path.read_bytes(), 0, {}
    while place < len(data):
        (length,) = struct.unpack_from("<Q", data, place)
        event = Event.FromString(data[place + 12 : place + 12 + length])
        place += 16 + length
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, pytest.approx(value.simple_value)))
    return found


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    with TensorBoard(tmp_path / "run") as tracker:
        for report in REPORTS:
            tracker(report)
    assert scalars(tmp_path / "run") == {"loss": LOSSES, "error": ERRORS}


def test_tensorboard_of_a_real_solve(tmp_path: Path) -> None:
    pytest.importorskip("tensorboardX")
    with TensorBoard(tmp_path / "run") as tracker:
        solution = mt.solve(decay.Decay(), "u,x", decay.SCHEDULE, a=1.0, check=False, progress=tracker, **decay.SOLVER)
    step, loss = scalars(tmp_path / "run")["loss"][-1]
    assert (step, solution.loss) == (10, loss)


def test_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    place = (tmp_path / "runs").as_uri()
    with MLflow("decay", place, {"a": 1.0}, name="first") as tracker:
        for report in REPORTS:
            tracker(report)
    with pytest.raises(RuntimeError, match="on purpose"), MLflow("decay", place) as failed:
        raise RuntimeError("on purpose")
    client = mlflow.MlflowClient(place)
    run = client.get_run(tracker.run_id)
    assert (run.info.status, run.info.run_name, run.data.params) == ("FINISHED", "first", {"a": "1.0"})
    for name, wanted in (("loss", LOSSES), ("error", ERRORS)):
        assert [(one.step, one.value) for one in client.get_metric_history(tracker.run_id, name)] == wanted
    assert client.get_run(failed.run_id).info.status == "FAILED"
    assert client.get_run(failed.run_id).info.experiment_id == run.info.experiment_id


def test_plays(tmp_path: Path) -> None:
    with mt.Study(decay.play(tmp_path / "a.db", 2), decay.Decay, read_only=True) as study:
        play = study.plays[1]
    step, values = measured(StudyProgress(play, 2, 2, 0))
    assert (step, values) == (
        2,
        {"play/error": play.error, "play/reward": play.reward, "parameter/a": play.parameters["a"]},
    )
    assert measured(StudyProgress(None, 1, 2, 1, stopping=True)) == (1, {})


@pytest.mark.parametrize(("kind", "module"), [(TensorBoard, "tensorboardX"), (MLflow, "mlflow")])
def test_what_to_install(kind: type[Tracker], module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(FileError, match=r"pip install 'metalic\["):
        kind(str(tmp_path))

"""Progress callbacks that write to experiment trackers: TensorBoard and MLflow.

    with TensorBoard("runs/first") as tracker:
        mt.solve("poisson", "u,c", s=20, progress=tracker)

A solve writes its loss and error against iterations, a study the error and reward of its plays, a sweep the measure of
its members. Only the process that calls writes; workers do not.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self, final

from .atomic import a_path
from .errors import FileError
from .pinn import Report
from .study.continuation import Step
from .study.driver import StudyProgress


class Tracker(ABC):
    """A progress callback that writes numbers to a tracker. Use it in a `with` block, or close it."""

    def __init__(self) -> None:
        self._before = self._last = 0  # iterations of earlier phases, and of this one

    def __call__(self, report: Report | StudyProgress | Step) -> None:
        """Write what a solve, a study or a sweep reports; values that are missing or not finite are left out."""
        step, values = self._iterations(report) if isinstance(report, Report) else measured(report)
        known = {name: float(value) for name, value in values.items() if value is not None and math.isfinite(value)}
        if known:
            self.write(step, known)

    def _iterations(self, report: Report) -> tuple[int, dict[str, float | None]]:
        """Iterations are counted through all phases."""
        if report.iteration == 0:
            self._before, self._last = self._before + self._last, 0
        self._last = report.iteration
        return self._before + self._last, {"loss": report.loss, "error": report.error}

    @abstractmethod
    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write finite numbers by name at a step."""

    @abstractmethod
    def close(self) -> None:
        """Finish the run; nothing can be written after it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: Any) -> None:
        self.close()


def measured(report: StudyProgress | Step) -> tuple[int, dict[str, float | None]]:
    """The number of a play or member, and what was measured."""
    if isinstance(report, Step):
        return report.finished_count, {"measure": None if report.member is None else report.member.measure}
    play = report.play
    if play is None:  # Ctrl-C
        return report.finished_count, {}
    parameters = {f"parameter/{name}": value for name, value in play.parameters.items()}
    return play.number, {"play/error": play.error, "play/reward": play.reward, **parameters}


@final
class TensorBoard(Tracker):
    """Write to files that TensorBoard shows: `tensorboard --logdir runs`. Needs `pip install 'metalic[tensorboard]'`.

    Args:
        folder: Where this run is written; one folder per run.

    Raises:
        FileError: tensorboardX is not installed.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        super().__init__()
        try:
            from tensorboardX import SummaryWriter
        except ImportError as error:
            raise FileError("tensorboardX is not installed: pip install 'metalic[tensorboard]'") from error
        self._writer = SummaryWriter(str(a_path(folder)))

    def write(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


@final
class MLflow(Tracker):
    """Write to a run of MLflow. Needs `pip install 'metalic[mlflow]'`, or MLflow itself.

    Args:
        experiment: The experiment; it is created if there is none.
        tracking_uri: Where MLflow keeps runs, such as 'http://localhost:5000'; by default what it is configured to.
        parameters: Written with the run, such as {"family": "poisson", "s": 20}.
        name: The name of the run.

    Attributes:
        run_id: The run's identifier.

    Raises:
        FileError: MLflow is not installed.
    """

    def __init__(
        self,
        experiment: str = "metalic",
        tracking_uri: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        name: str | None = None,
    ):
        super().__init__()
        try:
            from mlflow import MlflowClient
        except ImportError as error:
            raise FileError("MLflow is not installed: pip install 'metalic[mlflow]'") from error
        self._client = MlflowClient(tracking_uri)
        found = self._client.get_experiment_by_name(experiment)
        place = self._client.create_experiment(experiment) if found is None else found.experiment_id
        self.run_id: str = self._client.create_run(place, run_name=name).info.run_id
        for key, value in (parameters or {}).items():
            self._client.log_param(self.run_id, key, value)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._client.log_metric(self.run_id, name, value, step=step)

    def close(self) -> None:
        """Mark the run as finished."""
        self._client.set_terminated(self.run_id)

    def __exit__(self, *failure: Any) -> None:
        """Mark the run as finished, or as failed after an exception."""
        self._client.set_terminated(self.run_id, "FINISHED" if failure[0] is None else "FAILED")

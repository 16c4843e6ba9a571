"""What was learned, and what it is worth: baselines, offline tests, figures, reports, and the paper's results again.

`run_test` compares a study with every baseline on PDEs that it has not played; `figures` draws; `write_report` makes a
page of a study or several; `reproduce` makes the paper's tables and figures. Names are loaded when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metalic.evaluation.baselines import METHODS
    from metalic.evaluation.offline import OfflineTest, run_test
    from metalic.evaluation.report import write_report
    from metalic.evaluation.reproduction import reproduce

_HOME = {
    "METHODS": "baselines",
    "OfflineTest": "offline",
    "run_test": "offline",
    "write_report": "report",
    "reproduce": "reproduction",
}

__all__ = ["METHODS", "OfflineTest", "reproduce", "run_test", "write_report"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)

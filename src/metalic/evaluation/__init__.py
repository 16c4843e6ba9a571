"""Evaluate what was learned: baselines, offline tests, tables, figures and reports.

`run_test` compares a study with every baseline on PDEs that it has not played, `figures` draws, and `write_report`
writes a page about one or several studies. Names are loaded when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metalic.evaluation.baselines import METHODS
    from metalic.evaluation.offline import OfflineTest, run_test
    from metalic.evaluation.report import write_report

_HOME = {
    "METHODS": "baselines",
    "OfflineTest": "offline",
    "run_test": "offline",
    "write_report": "report",
}

__all__ = ["METHODS", "OfflineTest", "run_test", "write_report"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)

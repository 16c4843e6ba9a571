"""What commands print or draw: JSON, tables, summaries of studies, pictures, and warnings as single lines."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..atomic import write_whole
from ..errors import FileError

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from ..evaluation.tables import Table
    from ..study import PlayRow


def print_json(value: Any) -> None:
    """Print JSON on standard output."""
    typer.echo(json.dumps(value, indent=2))


def rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> RichTable:
    """A table of texts, as all commands print them."""
    from ..evaluation.tables import Table

    return Table(title or "", tuple(columns), tuple(tuple(row) for row in rows)).to_rich()


def print_rows(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> None:
    """Print a table of texts."""
    from rich.console import Console

    Console().print(rich_table(columns, rows, title))


def print_table(table: Table, last: str) -> None:
    """Print a table of results with its notes, and a last line."""
    from rich.console import Console

    console = Console()
    console.print(table.to_rich())
    for note in table.notes:
        console.print(note)
    console.print(last, soft_wrap=True)


def check_picture(path: Path) -> None:
    """Refuse a picture whose format is not known."""
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in known:
        raise FileError(f"'{path}': a picture ends in one of .{', .'.join(sorted(known))}")


def save_picture(figure: Any, path: Path) -> None:
    """Write a matplotlib Figure, all or nothing."""
    kind = path.suffix.lstrip(".").lower()
    write_whole(path, lambda file: figure.savefig(file, format=kind, dpi=120))


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print warnings as one line each on stderr."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: typer.echo(f"warning: {message}", err=True)
        yield


def number(value: float | None) -> str:
    """An error or a loss, or '-' if there is none."""
    return "-" if value is None else f"{value:.2e}"


def names(conditions: Sequence[str]) -> str:
    """A set of conditions as 'u,c' or 'none'."""
    return ",".join(conditions) or "none"


def context(row: PlayRow) -> str:
    """The parameters of a play."""
    return " ".join(f"{name}={value:.4g}" for name, value in row.parameters.items())


def seconds(row: PlayRow) -> float:
    """The training time of a play."""
    return sum(phase.seconds or 0.0 for phase in row.phases)


def summarize(rows: Sequence[PlayRow], settings: dict[str, Any]) -> dict[str, Any]:
    """A study in a few numbers, ready for JSON."""
    counts = {status: sum(row.status == status for row in rows) for status in ("done", "diverged", "failed", "running")}
    errors = [(row.error, row) for row in rows if row.taught and row.error is not None]
    error, best = min(errors, key=lambda pair: pair[0], default=(None, None))
    return {
        "family": settings["family"]["name"],
        "bandit": settings["bandit"],
        "schedule": settings["schedule"]["name"],
        "reward": settings["reward"],
        "seed": settings["seed"],
        "borrowed": settings["borrowed"],
        "protocol": settings.get("protocol"),
        **({"choices": settings["choices"]} if "choices" in settings else {}),
        "plays": len(rows) - counts["running"],
        **counts,
        "best_error": error,
        "best_play": None if best is None else {"number": best.number, **best.parameters, "conditions": best.arm},
        "accumulated_error": sum(error for error, _ in errors) if errors else None,
        "seconds": sum(seconds(row) for row in rows),
    }


def print_summary(ledger: Path, summary: dict[str, Any]) -> None:
    """Print what `summarize` returns."""
    bandit = summary["bandit"]
    typer.echo(
        f"{ledger}: {summary['family']}, {bandit['name']} {bandit['policy']['name']} with kernel {bandit['kernel']}, "
        f"schedule {summary['schedule']}, reward {summary['reward']}, seed {summary['seed']}"
        + (f", protocol {summary['protocol']}" if summary["protocol"] else "")
    )
    for name, levels in summary.get("choices", {}).items():
        typer.echo(f"chooses {name} among {', '.join(map(str, levels))}")
    odd = "".join(f", {summary[status]} {status}" for status in ("diverged", "failed", "running") if summary[status])
    typer.echo(f"{summary['plays']} plays in {summary['seconds']:.0f} s of training{odd}")
    best = summary["best_play"]
    if best is not None:
        typer.echo(f"best error {summary['best_error']:.2e} in play {best['number']} with {best['conditions']}")

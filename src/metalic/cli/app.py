"""The application: its commands, and how errors reach the user (one line on stderr, exit code 2, no traceback)."""

from __future__ import annotations

import sys

import typer

from ..errors import MetalicError
from . import demo, families, solving, studying

app = typer.Typer(
    name="metalic",
    help="Multi-domain physics-informed neural networks that learn their interface conditions.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("families")(families.list_families)
app.command("conditions")(families.list_conditions)
app.command("solve")(solving.solve)
app.command("demo")(demo.demo)
app.command("play")(studying.play)
app.command("recommend")(studying.recommend)
app.command("show")(studying.show)
app.command("export")(studying.export)


def _version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"metalic {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Multi-domain physics-informed neural networks that learn their interface conditions."""


def main() -> None:
    """Entry point: errors of the user's making become one line and exit code 2."""
    try:
        app()
    except MetalicError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output went away
        sys.stderr.close()
        sys.exit(1)

"""The application: its commands, and how errors reach the user (one line on stderr, exit code 2, no traceback)."""

from __future__ import annotations

import pkgutil
import re
import sys
from importlib import import_module
from typing import NoReturn

import typer

from ..errors import MetalicError
from . import commands

BARE = re.compile(r"[A-Za-z_]\w*=\S+")  # a parameter without its option

app = typer.Typer(
    name="metalic",
    help="Multi-domain physics-informed neural networks that learn their interface conditions.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
for found in pkgutil.iter_modules(commands.__path__):
    app.command(found.name)(import_module(f"{commands.__name__}.{found.name}").command)


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
    """Run the command line; an error caused by the user becomes one line and exit code 2."""
    try:
        sys.exit(app(prog_name="metalic", standalone_mode=False))
    except MetalicError as error:
        _refuse(str(error))
    except typer.Abort:  # Ctrl-C where there is nothing to report
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output went away
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        if not hasattr(error, "format_message"):  # only errors of the command line's parser have it
            raise
        if not sys.argv[1:]:
            typer.echo(error.format_message(), err=True)  # no arguments: the message is the help
            sys.exit(2)
        _refuse(error.format_message() + _given(error, sys.argv[1:]) + _hint(error, sys.argv[1:]))


def _given(error: Exception, words: list[str]) -> str:
    """Return the value given to an option, which the parser's message leaves out."""
    options = getattr(getattr(error, "param", None), "opts", ())
    for word, after in zip(words, [*words[1:], ""]):
        name, equals, value = word.partition("=")
        if name in options and name.startswith("-"):
            return f", not '{value if equals else after}'"
    return ""


def _hint(error: Exception, words: list[str]) -> str:
    """What to do about parameters that were given without their option."""
    command = getattr(getattr(error, "ctx", None), "command", None)
    takes_parameters = any("-p" in one.opts for one in getattr(command, "params", ()))
    if not takes_parameters or "unexpected extra argument" not in str(error):
        return ""
    bare = [word for before, word in zip(["", *words], words) if BARE.fullmatch(word) and not before.startswith("-")]
    return f". A parameter is given with -p: {' '.join(f'-p {word}' for word in bare)}" if bare else ""


def _refuse(message: str) -> NoReturn:
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    sys.exit(2)

"""`metalic dashboard`: studies in the browser, while they are played."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from ...errors import StudyError
from ..options import FamilyFile, Json


def command(
    ledgers: Annotated[list[Path], typer.Argument(help="The ledgers of one or several studies.")],
    family: FamilyFile = None,
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 0,
    host: Annotated[str, typer.Option(help="The address to listen on; one beyond this machine needs a token.")] = (
        "127.0.0.1"
    ),
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    token: Annotated[bool, typer.Option("--token", help="Ask for a token on this machine, too.")] = False,
    as_json: Json = False,
) -> None:
    """Watch studies in the browser. Ledgers are only read, also while they are being played.

    Example: metalic dashboard poisson.db --open
    """
    if not 0 <= port <= 65535:
        raise StudyError(f"a port is a number from 0 to 65535, not {port}")
    from ... import runtime

    runtime.prepare()
    import secrets

    from ...dashboard.server import Dashboard

    shown = Dashboard(ledgers, family, port, host, secrets.token_urlsafe(16) if token else None)

    def ready() -> None:
        line = json.dumps({"url": shown.address}) if as_json else f"{shown.address}   (Ctrl-C to stop)"
        typer.echo(line)
        if open_browser:
            webbrowser.open(shown.address)

    shown.run(ready)

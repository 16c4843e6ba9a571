"""A progress bar for notebooks and scripts, from what progress callbacks receive.

`progress=None` shows a bar in a notebook and nothing elsewhere, `True` always, `False` never; a function is called.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

INTERVAL = 0.2  # seconds between two pictures of a bar
WIDTH = 24  # of a bar of text


class Stage(NamedTuple):
    """How far something is: what, how much of how much, and a note."""

    label: str
    done: int
    total: int
    note: str = ""


class Reported(Protocol):
    """What progress callbacks receive."""

    @property
    def stage(self) -> Stage: ...


Progress = Callable[[Any], Any] | bool | None


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    return shell is not None and hasattr(shell.get_ipython(), "kernel")


@contextmanager
def shown(progress: Progress) -> Iterator[Callable[[Any], Any] | None]:
    """The callback that a progress option stands for; a bar is finished at the end."""
    wanted = in_notebook() if progress is None else progress
    if not isinstance(wanted, bool):
        yield wanted
        return
    if not wanted:
        yield None
        return
    bar = Bar(_notebook_writer() if in_notebook() else _write_line)
    try:
        yield bar
    finally:
        bar.finish()


class Bar:
    """Shows reports, a few times per second and the last one at the end.

    Args:
        write: Shows a stage with the seconds so far.
    """

    def __init__(self, write: Callable[[Stage, float, bool], None]):
        self.write, self.begun, self.last = write, 0.0, 0.0
        self.stage: Stage | None = None

    def __call__(self, report: Reported) -> None:
        new, now = report.stage, time.monotonic()
        changed = self.stage is None or new.label != self.stage.label
        self.stage = new
        if changed:  # the clock is that of the phase
            self.begun = now
        if changed or now - self.last >= INTERVAL:
            self.last = now
            self.write(new, now - self.begun, False)

    def finish(self) -> None:
        """Show the last stage, which may have been passed over."""
        if self.stage is not None:
            self.write(self.stage, time.monotonic() - self.begun, True)


def as_html(stage: Stage, seconds: float) -> str:
    """A bar as HTML."""
    value = f"value='{stage.done}' " if stage.done else ""  # without a value it moves to and fro
    label, note = html.escape(stage.label), html.escape(stage.note)
    return (
        f"<div>{label} <progress {value}max='{max(stage.total, 1)}'></progress> {stage.done}/{stage.total} "
        f"[{_clock(seconds)}{_left(stage, seconds)}] {note}</div>"
    )


def as_text(stage: Stage, seconds: float) -> str:
    """A bar as a line of text."""
    full = WIDTH * min(stage.done, stage.total) // max(stage.total, 1)  # a phase may take longer than planned
    bar = "#" * full + "." * (WIDTH - full)
    clock = f"[{_clock(seconds)}{_left(stage, seconds)}]"
    return f"{stage.label} |{bar}| {stage.done}/{stage.total} {clock} {stage.note}".rstrip()


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


def _left(stage: Stage, seconds: float) -> str:
    if not 0 < stage.done < stage.total:
        return ""
    return f", about {_clock(seconds / stage.done * (stage.total - stage.done))} left"


def _notebook_writer() -> Callable[[Stage, float, bool], None]:
    from IPython.display import HTML, display  # there is one, since this is a notebook

    handle: Any = display(HTML("<div>compiling</div>"), display_id=True)
    return lambda stage, seconds, last: handle.update(HTML(as_html(stage, seconds)))


def _write_line(stage: Stage, seconds: float, last: bool) -> None:
    print(f"\r{as_text(stage, seconds)}\033[K", end="\n" if last else "", file=sys.stderr, flush=True)

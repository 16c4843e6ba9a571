"""What Ctrl-C does to a command: the process ends soon, with exit code 130, and says where the results are."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

GRACE = 2.5  # seconds after Ctrl-C until plays in flight are given up
LAST = 1.0  # seconds from then until the process ends


@contextmanager
def exit_on_interrupt(results: Path, describe: Callable[[], str] = lambda: "") -> Iterator[None]:
    """Turn a KeyboardInterrupt into exit code 130 and a line that says where finished work is kept.

    Args:
        results: Where it is kept.
        describe: Describes it, when asked after the interrupt.
    """
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"stopped{describe()}; everything finished is in '{results}': run it again to continue", err=True)
        raise typer.Exit(130) from None


@contextmanager
def interruptible_solve(checkpoint: Path | None) -> Iterator[None]:
    """Turn a KeyboardInterrupt during a solve into exit code 130 and a line that says what is kept of it."""
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint is None:
            kept = "nothing is kept; with --checkpoint FILE a solve is kept once a minute and can be continued"
        elif checkpoint.exists():
            kept = f"the solve is kept in '{checkpoint}' as it was at most a minute ago: run it again to continue"
        else:
            kept = f"nothing is in '{checkpoint}' yet, which is written once a minute"
        typer.echo(f"stopped; {kept}", err=True)
        raise typer.Exit(130) from None


@contextmanager
def deadline_after_interrupt() -> Iterator[None]:
    """Limit the time from a Ctrl-C to the end of the block.

    GRACE seconds after a Ctrl-C a second one is sent; LAST seconds after that the process ends. Every finished play is
    in the ledger, so the process may end anywhere. A thread watches, because the main one may be inside a compilation,
    where no signal handler runs. The thread and the wake-up descriptor go when the block is left.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set a wake-up descriptor
        yield
        return
    reader, writer = socket.socketpair()  # Windows takes no pipe here
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    left = threading.Event()
    watcher = threading.Thread(target=_watch, args=(reader, left), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        left.set()
        signal.set_wakeup_fd(before)
        writer.close()  # the reader sees the end
        watcher.join()
        reader.close()


def _watch(reader: socket.socket, left: threading.Event) -> None:
    while (byte := reader.recv(1)) != bytes([signal.SIGINT]):
        if not byte:
            return
    if left.wait(GRACE):
        return
    if os.name == "nt":  # where os.kill would end the process
        signal.raise_signal(signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)
    if left.wait(LAST):
        return
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")  # the live table has hidden the cursor
    os._exit(130)

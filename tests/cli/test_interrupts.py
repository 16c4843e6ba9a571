"""Ctrl-C: what it does while a command runs, and that nothing of it stays behind."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
import typer

from metalic.cli import interrupts
from metalic.cli.interrupts import deadline_after_interrupt, exit_on_interrupt
from metalic.study.driver import first_interrupt


def _state() -> tuple[object, ...]:
    descriptor = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(descriptor)
    files = len(os.listdir("/proc/self/fd"))
    return descriptor, signal.getsignal(signal.SIGINT), threading.active_count(), files


def test_ctrl_c_in_the_middle_of_a_write_does_not_enter_it_again() -> None:
    stream, acquired = threading.Lock(), []  # as a stream's own lock, which a handler would wait for in vain

    def tell() -> None:
        acquired.append(stream.acquire(timeout=10))
        stream.release()

    with first_interrupt(tell) as stop, stream:
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
    assert acquired == [True]


@pytest.mark.parametrize("interrupted", [False, True])
def test_nothing_stays_behind(interrupted: bool) -> None:
    before = _state()
    with deadline_after_interrupt(), first_interrupt(lambda: None):
        assert _state() != before
        if interrupted:
            signal.raise_signal(signal.SIGINT)
    assert _state() == before


def test_a_second_interrupt_follows_when_the_first_does_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "GRACE", 0.1)

    def stubborn() -> None:
        with deadline_after_interrupt(), first_interrupt(lambda: None) as stop:
            signal.raise_signal(signal.SIGINT)
            assert stop.is_set()
            time.sleep(30)

    with pytest.raises(KeyboardInterrupt):
        stubborn()


def test_an_interrupt_is_exit_code_130_and_says_where_the_results_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as stopped, exit_on_interrupt(Path("a.db"), lambda: " after 3 plays"):
        raise KeyboardInterrupt
    assert stopped.value.exit_code == 130
    assert (
        capsys.readouterr().err == "stopped after 3 plays; everything finished is in 'a.db': run it again to continue\n"
    )

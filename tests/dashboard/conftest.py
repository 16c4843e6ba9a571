"""A browser, and a dashboard that is served while a test runs."""

import asyncio
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from metalic.dashboard.server import Dashboard

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser without a window."""
    if CHROMIUM is None:
        pytest.skip("no Chromium; Debian's package chromium has one")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def served(*ledgers: Path, **options: Any) -> Iterator[Dashboard]:
    """A dashboard in a thread of this process."""
    dashboard = Dashboard(ledgers, **options)
    loop, ready = asyncio.new_event_loop(), threading.Event()
    task = loop.create_task(dashboard.serve(ready.set))

    def run() -> None:
        asyncio.set_event_loop(loop)
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(60)
    yield dashboard
    loop.call_soon_threadsafe(task.cancel)
    thread.join(60)


@pytest.fixture
def serve() -> Callable[..., Any]:
    return served

"""Progress bars: what they show, and when."""

import sys
from types import SimpleNamespace
from typing import Any

import decay
import pytest

import metalic as mt
from metalic import progress
from metalic.progress import Bar, Stage, as_html, as_text, shown


def test_a_line_of_text() -> None:
    line = as_text(Stage("plays", 30, 120, "u,c"), 61.0)
    assert line == "plays |######..................| 30/120 [01:01, about 03:03 left] u,c"
    assert "left" not in as_text(Stage("plays", 120, 120), 61.0) + as_text(Stage("plays", 0, 120), 61.0)
    assert as_text(Stage("longer than planned", 150, 100), 1.0).count("#") == 24


def test_html_is_escaped() -> None:
    page = as_html(Stage("<b>", 1, 2, "a & b"), 1.0)
    assert "<progress value='1' max='2'>" in page
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "a &amp; b" in page
    assert "value" not in as_html(Stage("compiling", 0, 2), 1.0)


def test_a_bar_shows_what_is_new_and_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is invented: reports every 0.1 s, pictures every 0.2 s, and when a phase begins."""
    now = iter(i / 10 for i in range(100))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    seen: list[Any] = []
    bar = Bar(lambda stage, seconds, last: seen.append((stage.label, stage.done, round(seconds, 1), last)))
    for label, done in (("a", 0), ("a", 1), ("a", 2), ("a", 3), ("b", 0), ("b", 1)):
        bar(SimpleNamespace(stage=Stage(label, done, 5)))
    bar.finish()
    assert seen == [("a", 0, 0.0, False), ("a", 2, 0.2, False), ("b", 0, 0.0, False), ("b", 1, 0.2, True)]


def test_who_is_called() -> None:
    with shown(print) as given:
        assert given is print
    for quiet in (None, False):
        with shown(quiet) as given:
            assert given is None


def test_a_bar_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    mt.solve(decay.Decay(), "u,x", decay.SCHEDULE, a=1.0, check=False, progress=True, **decay.SOLVER)
    out, err = capsys.readouterr()
    assert out == ""
    assert "phase 1/2 compiling adam" in err
    last = err.rstrip().split("\r")[-1]
    assert last.startswith("phase 2/2 adam |########################| 5/5")


def test_a_notebook_has_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """IPython as a kernel has it: one display, which is updated."""
    shows: list[str] = []
    handle = SimpleNamespace(update=lambda html: shows.append(html))
    fake = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    display = SimpleNamespace(HTML=str, display=lambda html, display_id: handle)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    with shown(None) as bar:
        assert bar is not None
        bar(SimpleNamespace(stage=Stage("plays", 1, 2)))
    with shown(False) as none:
        assert none is None
    assert [show.count("<progress value='1' max='2'>") for show in shows] == [1, 1]

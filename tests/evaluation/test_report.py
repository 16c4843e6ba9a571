"""The report: what is in it, that it fetches nothing, and that a ledger cannot break out of it."""

import base64
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import decay
import pytest

import metalic as mt
from metalic.errors import FileError, StudyError
from metalic.evaluation.offline import run_test
from metalic.evaluation.report import write_report
from metalic.study import Study

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


class Page(HTMLParser):
    """What a page holds."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies and an offline test."""
    path = tmp_path_factory.mktemp("report")
    decay.play(path / "random.db", 20)
    decay.play(path / "ucb.db", 10, bandit=mt.Sequential(random_plays=5), seed=4)
    with Study(path / "ucb.db", decay.Decay, read_only=True) as study:
        run_test(study, path / "test.db", pdes=3, methods=("learned", "all"))
    write_report([path / name for name in ("random.db", "ucb.db", "test.db")], path / "r.html", family=decay.Decay)
    return path


def test_words_pictures_and_tables(folder: Path) -> None:
    page = Page((folder / "r.html").read_text())
    text = "".join(page.words)
    assert "What was learned: decay" in text
    assert "learned from 30 plays" in text
    assert text.index("ucb.db (Seq-UCB") < text.index("random.db (Random-Seq")  # what has learned comes first
    assert re.search(r"In phase 2: For a < 1\.\d+ try .*: a first guess", text)
    pictures = page.all("img")
    assert (
        len(pictures) == 3 + 2 + 2 + 1 + 1 + 1
    )  # errors of each study and together, effects, sets, errors, conditions, the test
    for picture in pictures:
        assert len(picture["alt"] or "") > 10
        kind, _, content = (picture["src"] or "").partition(";base64,")
        assert kind == "data:image/svg+xml"
        assert b"</svg>" in base64.b64decode(content)
    assert len(page.all("table")) == 6  # what conditions mean, the test, plays and settings of two studies
    assert len(page.all("tr")) > 30
    assert "all conditions" in text
    assert "python" in text  # versions


def test_nothing_is_fetched(folder: Path) -> None:
    text = (folder / "r.html").read_text()
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "iframe", "object", "base")
        for name in ("src", "href", "srcset", "action", "style"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:image/")), (tag, name, value[:60])
    assert "url(" not in text
    assert "@import" not in text
    (policy,) = [one["content"] for one in page.all("meta") if one.get("http-equiv")]
    assert policy == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def test_a_ledger_is_escaped(tmp_path: Path) -> None:
    decay.play(tmp_path / "h.db", 6, family=decay.Hostile)
    write_report([tmp_path / "h.db"], tmp_path / "h.html", family=decay.Hostile)
    page = Page((tmp_path / "h.html").read_text())
    assert not page.all("script")
    assert not page.all("b")
    assert decay.Hostile.name in "".join(page.words)


def test_bad_input(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="at least one ledger"):
        write_report([], tmp_path / "r.html")
    with pytest.raises(StudyError, match="of your family 'decay'"):
        write_report([folder / "ucb.db"], tmp_path / "r.html")
    with pytest.raises(FileError, match="cannot write"):
        write_report([folder / "ucb.db"], tmp_path / "none" / "r.html", family=decay.Decay)
    assert not list(tmp_path.iterdir())


def test_a_study_without_plays(tmp_path: Path) -> None:
    decay.play(tmp_path / "a.db", 0)
    write_report([tmp_path / "a.db"], tmp_path / "r.html", family=decay.Decay)
    assert "learned from 0 plays" in (tmp_path / "r.html").read_text()


def test_point_wise_maps(folder: Path, tmp_path: Path) -> None:
    write_report([folder / "ucb.db"], tmp_path / "r.html", family=decay.Decay, maps=True)
    text = (tmp_path / "r.html").read_text()
    assert "Point-wise error a = 1.25" in text
    assert "data:image/png;base64," in text


FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
SHOWN = """all => all.map(one => ({
    loaded: one.tagName != 'IMG' || (one.complete && one.naturalWidth > 0),
    width: one.getBoundingClientRect().width,
    height: one.getBoundingClientRect().height,
    rows: one.querySelectorAll('tr').length}))"""


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


@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_browser(browser: Any, folder: Path, width: int) -> None:
    """On a screen and on a phone every picture is loaded and every table laid out, nothing is cut off at the page's
    edge, nothing is complained of, and no request leaves the page."""
    page = browser.new_page(viewport={"width": width, "height": 844})
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    address = (folder / "r.html").as_uri()
    page.goto(address)
    pictures, tables = (page.eval_on_selector_all(tag, SHOWN) for tag in ("img", "table"))
    assert len(pictures) == 10
    assert len(tables) == 6
    assert all(one["loaded"] and one["width"] > 200 and one["height"] > 100 for one in pictures)
    assert all(one["width"] > 200 and one["rows"] > 2 for one in tables)
    assert page.evaluate("document.documentElement.scrollWidth") <= width  # figures and tables scroll by themselves
    assert [url for url in asked if not url.startswith("data:")] == [address]
    assert not complaints
    page.close()


def test_a_request_would_be_refused(browser: Any, folder: Path, tmp_path: Path) -> None:
    """What the test above would see if the page did ask for something: the page's own policy refuses it."""
    text = (folder / "r.html").read_text()
    path = tmp_path / "asks.html"
    path.write_text(text.replace("<main>", '<main><img src="http://localhost:9/x.png" alt="">'))
    page = browser.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri())
    assert not page.eval_on_selector_all("img", SHOWN)[0]["loaded"]
    assert any("Content Security Policy" in complaint for complaint in complaints)
    page.close()


def test_on_paper(browser: Any, folder: Path) -> None:
    """Printed, the table of plays is not a window to scroll, and nothing is wider than the sheet."""
    page = browser.new_page(viewport={"width": 700, "height": 1000})
    page.emulate_media(media="print")
    page.goto((folder / "r.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    hidden = page.eval_on_selector_all(".plays .table", "all => all.map(one => one.scrollHeight - one.clientHeight)")
    assert hidden
    assert max(hidden) <= 1
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) > 2
    page.close()

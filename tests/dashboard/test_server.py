"""The dashboard as a browser and a stranger see it."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import decay
import pytest
import tiny

import metalic as mt
from metalic.dashboard.server import Dashboard
from metalic.errors import LedgerError, StudyError


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study in which x is known to help below a = 1.25 and to harm above it, and one with random sets."""
    path = tmp_path_factory.mktemp("dashboard")
    decay.play(path / "a.db", 40)
    decay.play(path / "b.db", 10)
    return path


def get(address: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    """Answer, text and headers of a request, errors included."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=120) as answer:
            return answer.status, answer.read().decode("utf-8", "replace"), dict(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), dict(error.headers)


def test_pages_and_downloads(serve: Callable[..., Any], played: Path) -> None:
    with serve(played / "a.db", played / "b.db", family=decay.Decay) as dashboard:
        base = f"http://127.0.0.1:{dashboard.port}"
        code, text, headers = get(base + "/")
        assert code == 200
        assert "40 finished" in text
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self';")
        code, text, _ = get(base + "/study/0/plays.csv")
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [int(row["number"]) for row in rows] == list(range(1, 41))
        _, text, _ = get(base + "/study/0?sort=error&down=0&words=u,x&kind=random")
        assert re.findall(r'href="/study/0/play/(\d+)">\1<', text) == with_u_and_x(rows)
        with urllib.request.urlopen(base + "/study/0/figure/medians.png", timeout=120) as answer:
            assert answer.read(8) == b"\x89PNG\r\n\x1a\n"
        assert "conditions" in get(base + "/study/0/play/7")[1]
        assert "b.db" in get(base + "/study/0/compare?other=1")[1]
        for place, message in (("/study/7", "no study 7"), ("/study/0/play/99", "no play 99"), ("/x", "no such page")):
            code, text, _ = get(base + place)
            assert code in (404, 409)
            assert message in text
            assert text.count('id="problem"') == 1
            assert "Traceback" not in text


def with_u_and_x(rows: list[dict[str, str]]) -> list[str]:
    def whole(row: dict[str, str]) -> bool:
        return any({"u", "x"} <= set(row[f"conditions_{phase}"].split(",")) for phase in (1, 2))

    found = [row for row in rows if whole(row)]
    return [row["number"] for row in sorted(found, key=lambda row: float(row["error_2"]))]


def test_hostile_text_is_text(serve: Callable[..., Any], browser: Any, tmp_path: Path) -> None:
    decay.play(tmp_path / "h.db", 6, family=decay.Hostile)
    hurt = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    with mt.Study(tmp_path / "h.db", decay.Hostile) as study:
        study.tell(study.ask(), ValueError(hurt), attempts=3)
    with serve(tmp_path / "h.db", family=decay.Hostile) as dashboard:
        page = browser.new_page()
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        for place in ("/study/0", "/study/0/play/7", "/study/0/play/2", "/study/0?words=" + hurt.replace(" ", "%20")):
            page.goto(f"http://127.0.0.1:{dashboard.port}{place}")
            assert page.locator("script").count() == 1  # htmx
            assert page.locator("main img").count() == 0
        page.goto(f"http://127.0.0.1:{dashboard.port}/study/0/play/7")
        assert hurt in page.locator(".caution").inner_text()
        assert decay.Hostile.name in page.locator("h1").inner_text()
        assert not dialogs
        page.close()


def test_who_may_look(serve: Callable[..., Any], played: Path) -> None:
    with serve(played / "b.db", family=decay.Decay) as dashboard:
        base = f"http://127.0.0.1:{dashboard.port}"
        code, text, _ = get(base + "/study/0", Host="elsewhere.example")
        assert (code, "loopback" in text, "plays" in text) == (403, True, False)
    with serve(played / "b.db", family=decay.Decay, host="0.0.0.0") as dashboard:
        assert len(dashboard.token) > 20
        base = f"http://127.0.0.1:{dashboard.port}"
        for place in ("/", "/study/0", "/study/0/plays.csv", "/study/0?token=wrong"):
            code, text, _ = get(base + place)
            assert (code, "the token" in text) == (403, True)
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(f"{base}/study/0?token={dashboard.token}", timeout=60) as answer:
            assert "token" not in answer.url
            assert "10 finished" in answer.read().decode()
        assert opener.open(base + "/study/0/plays.csv", timeout=60).status == 200  # by the cookie


def test_refusals(played: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="there is no ledger"):
        Dashboard([tmp_path / "none.db"])
    first = Dashboard([played / "b.db"], decay.Decay)
    with pytest.raises(StudyError, match=f"cannot listen on 127.0.0.1, port {first.port}"):
        Dashboard([played / "b.db"], decay.Decay, port=first.port)


def test_a_family_that_is_not_known(serve: Callable[..., Any], played: Path) -> None:
    """Plays and errors are shown; what needs the family is explained."""
    with serve(played / "b.db") as dashboard:
        base = f"http://127.0.0.1:{dashboard.port}"
        assert "10 finished" in get(base + "/study/0")[1]
        answer = get(base + "/study/0/learned", **{"HX-Request": "true"})[1]
        assert "of your family" in answer
        assert "Give it: --family" in answer


def test_the_slider_changes_the_set(serve: Callable[..., Any], browser: Any, played: Path) -> None:
    from playwright.sync_api import expect

    with serve(played / "a.db", family=decay.Decay) as dashboard:
        page = browser.new_page()
        asked, complaints = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"http://127.0.0.1:{dashboard.port}/study/0/learned")
        page.locator(".advice").wait_for(timeout=240_000)

        def slide(value: float) -> list[str]:
            page.locator("input[type=range]").evaluate(
                "(one, value) => { one.value = value; one.dispatchEvent(new Event('input', {bubbles: true})) }", value
            )
            expect(page.locator("#at")).to_have_text(f"a = {value:g}", timeout=120_000)
            return str(page.locator(".set").last.inner_text()).split(",")

        assert {"u", "x"} <= set(slide(0.75))
        assert "at.a=0.75" in page.url
        above = slide(1.75)
        assert "u" in above
        assert "x" not in above
        assert "relative error" in page.locator("#forecast").inner_text()
        shared = browser.new_page()  # the address holds the state
        shared.goto(page.url)
        expect(shared.locator("#at")).to_have_text("a = 1.75", timeout=120_000)
        assert all(url.startswith((f"http://127.0.0.1:{dashboard.port}/", "data:")) for url in asked)
        assert not complaints
        page.close()
        shared.close()


def test_ten_tabs_beside_a_study_that_is_played(serve: Callable[..., Any], browser: Any, tmp_path: Path) -> None:
    """A real study runs in another process. Ten tabs show its plays as they come. The ledger is read once per change,
    not once per tab, and is a single, whole file when the study ends."""
    from playwright.sync_api import expect

    path, plays = tmp_path / "live.db", 12
    mt.Study(path, tiny.Tiny, tiny.RANDOM, **tiny.SETTINGS).close()
    family = f"{Path(tiny.__file__)}:Tiny"
    with serve(path, family=tiny.Tiny) as dashboard:
        address = f"http://127.0.0.1:{dashboard.port}/study/0"
        pages = [browser.new_page() for _ in range(10)]
        for page in pages:
            page.goto(address)
            expect(page.locator("dd").first).to_have_text("0 finished")
        command = [*tiny.METALIC, "play", str(path), "--family", family, "--plays", str(plays), "--quiet"]
        player = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert player.stderr is not None
        errors = player.stderr.read()
        assert player.wait(300) == 0, errors
        for page in pages:
            expect(page.locator("dd").first).to_contain_text(f"{plays} finished", timeout=60_000)
            assert page.locator("#plays tbody tr").count() == plays
            page.close()
        writes = 2 * plays + 3  # each play twice; the file's mode at the beginning and the end
        assert 1 < dashboard.desk.reads <= writes
        assert dashboard.desk.drawn <= 2 * writes  # two figures, whatever the number of tabs
        assert not Path(f"{path}-wal").exists()
    with mt.Study(path, tiny.Tiny, read_only=True) as study:
        assert [play.status for play in study.plays] == ["done"] * plays


def test_the_command(played: Path, tmp_path: Path) -> None:
    """It prints its address, answers, and ends quietly on Ctrl-C; the ledger is untouched."""
    before = (played / "a.db").read_bytes()
    family = f"{Path(decay.__file__)}:Decay"
    path = os.pathsep.join(sys.path)
    command = [*tiny.METALIC, "dashboard", str(played / "a.db"), "--family", family, "--json"]
    process = subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # whatever started the tests
    )
    assert process.stdout is not None
    address = json.loads(process.stdout.readline())["url"]
    assert "40 finished" in get(address)[1]
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert (played / "a.db").read_bytes() == before
    assert sorted(one.name for one in played.iterdir()) == ["a.db", "b.db"]

"""The server: answers GET requests on the loopback address, and elsewhere only with a token."""

from __future__ import annotations

import asyncio
import hmac
import os
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler, StaticFileHandler

from ..errors import MetalicError, StudyError
from .desk import HERE, Desk
from .query import Query

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "metalic-dashboard"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
POLITE = 10  # how much is added to the niceness of the process: plays come first


class Dashboard:
    """A server of a dashboard.

    Args:
        ledgers: The ledgers of the studies to show.
        family: The family of those that do not say where it is defined.
        port: The port; 0 takes a free one.
        host: The address to listen on.
        token: What a browser must show once. Made up if the address is not a loopback one; '' for none.

    Raises:
        MetalicError: A ledger cannot be read, or the port cannot be taken.

    Example:
            Dashboard([Path("poisson.db")]).run()
    """

    def __init__(
        self,
        ledgers: Sequence[Path],
        family: Any = None,
        port: int = 0,
        host: str = "127.0.0.1",
        token: str | None = None,
    ):
        self.desk, self.host = Desk(ledgers, family), host
        self.token = token or ("" if host in LOOPBACK else secrets.token_urlsafe(16))
        self.quick, self.slow = ThreadPoolExecutor(1, "read"), ThreadPoolExecutor(1, "fit")
        try:
            self._sockets = bind_sockets(port, address=host)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise StudyError(f"cannot listen on {host}, port {port}: {reason}; --port 0 takes a free one") from error
        self.port = int(self._sockets[0].getsockname()[1])

    @property
    def address(self) -> str:
        """What to open in a browser."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    async def serve(self, ready: Callable[[], Any] = lambda: None) -> None:
        """Answer requests until the task is cancelled."""
        server = HTTPServer(self._application())
        server.add_sockets(self._sockets)
        try:
            ready()
            await asyncio.Event().wait()
        finally:
            server.stop()
            self.quick.shutdown(wait=False, cancel_futures=True)
            self.slow.shutdown(wait=False, cancel_futures=True)

    def run(self, ready: Callable[[], Any] = lambda: None) -> None:
        """Answer requests until Ctrl-C, with a lower priority than plays."""
        if hasattr(os, "nice"):
            os.nice(POLITE)
        with suppress(KeyboardInterrupt):
            asyncio.run(self.serve(ready))

    def _application(self) -> Application:
        number, common = r"/study/(\d{1,6})", {"dashboard": self}
        return Application(
            [
                (r"/static/(.*)", Static, {"path": str(HERE / "static")}),
                (r"/", Home, common),
                (number, Overview, common),
                (number + r"/learned", LearnedPage, common),
                (number + r"/compare", Compare, common),
                (number + r"/play/(\d{1,9})", Play, common),
                (number + r"/plays\.csv", Csv, common),
                (number + r"/figure/([a-z]{1,20})(?:/(\d{1,9}))?\.png", Png, common),
            ],
            default_handler_class=Page,
            default_handler_args=common,
            log_function=lambda _: None,
        )


class Static(StaticFileHandler):
    """The style and htmx."""

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)


class Page(RequestHandler):
    """What all pages share: who may see them, and what happens to errors."""

    def initialize(self, dashboard: Dashboard) -> None:
        self.dashboard, self.desk = dashboard, dashboard.desk

    def set_default_headers(self) -> None:
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuse names that are not ours, which a page elsewhere could have pointed here, and who has no token."""
        if self.dashboard.host in LOOPBACK and self.request.host_name.strip("[]") not in LOOPBACK:
            raise HTTPError(403, reason="This dashboard is open on the loopback address only.")
        token = self.dashboard.token
        if not token or hmac.compare_digest((self.get_cookie(COOKIE) or "").encode(), token.encode()):
            return
        if not hmac.compare_digest(self.get_query_argument("token", "").encode(), token.encode()):
            raise HTTPError(403, reason="Open the address that the command printed: it contains the token.")
        self.set_cookie(COOKIE, token, httponly=True, samesite="Strict")
        rest = urlencode([(k, v[0]) for k, v in self.request.query_arguments.items() if k != "token"])
        self.redirect(self.request.path + (f"?{rest}" if rest else ""))

    async def get(self, *_: str) -> None:
        raise HTTPError(404, reason="There is no such page.")

    @property
    def query(self) -> Query:
        return Query.of({name: self.get_query_argument(name) for name in self.request.query_arguments})

    async def made(self, make: Callable[..., Any], *given: Any, slow: bool = False) -> Any:
        """Make something in another thread, so that others are answered meanwhile."""
        pool = self.dashboard.slow if slow else self.dashboard.quick
        return await asyncio.get_running_loop().run_in_executor(pool, make, *given)

    async def unchanged(self, *numbers: int) -> bool:
        """Whether the browser has seen the studies as they are; it then keeps its page."""
        before = self.get_query_argument("seen", "")
        same = bool(before) and before == await self.made(self.desk.seen, *numbers)
        if same:
            self.set_status(204)
        return same

    def write_error(self, status_code: int, **given: Any) -> None:
        """One sentence, escaped."""
        error = (given.get("exc_info") or (None, None))[1]
        if isinstance(error, MetalicError):
            self.set_status(409)
            message = str(error)
        else:
            message = (
                self._reason if isinstance(error, HTTPError) else "The dashboard met an error; its terminal has it."
            )
        self.set_header("Content-Type", "text/html; charset=UTF-8")
        self.finish(self.desk.problem(message))

    def log_exception(self, kind: Any, value: Any, trace: Any) -> None:
        if not isinstance(value, MetalicError | HTTPError):
            super().log_exception(kind, value, trace)


class Home(Page):
    """The first study."""

    async def get(self, *_: str) -> None:
        self.redirect("/study/0")


class Overview(Page):
    """A study."""

    async def get(self, *given: str) -> None:
        number = int(given[0])
        if not await self.unchanged(number):
            self.write(await self.made(self.desk.overview, number, self.query))


class LearnedPage(Page):
    """What was learned; the first answer is a page that asks again, because fitting takes a while."""

    async def get(self, *given: str) -> None:
        number, query = int(given[0]), self.query
        if await self.unchanged(number):
            return
        if "HX-Request" in self.request.headers or await self.made(self.desk.has_learned, number, query):
            self.write(await self.made(self.desk.learned, number, query, slow=True))
        else:
            self.write(await self.made(self.desk.waiting, number, query))


class Compare(Page):
    """Two studies."""

    async def get(self, *given: str) -> None:
        self.write(await self.made(self.desk.compare, int(given[0]), self.query))


class Play(Page):
    """One play."""

    async def get(self, *given: str) -> None:
        self.write(await self.made(self.desk.play, int(given[0]), int(given[1]), self.query))


class Csv(Page):
    """All plays."""

    async def get(self, *given: str) -> None:
        content = await self.made(self.desk.csv, int(given[0]))
        self.set_header("Content-Type", "text/csv; charset=UTF-8")
        self.set_header("Content-Disposition", 'attachment; filename="plays.csv"')
        self.write(content)


class Png(Page):
    """A figure."""

    async def get(self, *given: str) -> None:
        number, name, play = given
        which = int(play) if play else None
        content = await self.made(self.desk.png, int(number), name, self.query, which, slow=name == "effects")
        self.set_header("Content-Type", "image/png")
        self.set_header("Content-Disposition", f'attachment; filename="{name}.png"')
        self.write(content)

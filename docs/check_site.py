"""Check the built site: links inside it lead somewhere, and no page loads anything from elsewhere.

python docs/check_site.py build/site
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
NOT_LOADED = {"canonical", "search", "next", "prev", "index", "genindex"}  # kinds of <link> that are only named


class Page(HTMLParser):
    """The links, the loaded files and the anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in LOADS and LOADS[tag] in found and found.get("rel") not in NOT_LOADED:
            self.loaded.append(found[LOADS[tag]])


def faults(site: Path) -> list[str]:
    """One line for each link that leads nowhere and each file from elsewhere."""
    pages = {path.resolve(): Page(path.read_text()) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for target in (*page.links, *page.loaded):
            place = urlsplit(target)
            if place.scheme or place.netloc:
                if target in page.loaded and place.scheme != "data":
                    found.append(f"{name} loads {target}")
                continue
            file = (path.parent / unquote(place.path)).resolve() if place.path else path
            if not file.exists():
                found.append(f"{name}: no {target}")
            elif place.fragment and file in pages and unquote(place.fragment) not in pages[file].anchors:
                found.append(f"{name}: no anchor {target}")
    return found


if __name__ == "__main__":
    lines = faults(Path(sys.argv[1]))
    print("\n".join(lines) or "all links inside the site lead somewhere")
    sys.exit(bool(lines))

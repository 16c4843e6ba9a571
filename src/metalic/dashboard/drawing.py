"""Figures as SVG inside a page: links on the marks, with a tooltip, and nothing that could break out of it."""

from __future__ import annotations

import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping

from matplotlib.figure import Figure

from ..look import picture

SVG, LINK = "http://www.w3.org/2000/svg", "{http://www.w3.org/1999/xlink}href"
LOCK = threading.Lock()  # matplotlib draws in one thread at a time
ElementTree.register_namespace("", SVG)


def inline(figure: Figure, title: str, tips: Mapping[str, str] | None = None) -> str:
    """A figure as an `<svg>` element.

    Args:
        figure: What is drawn.
        title: For readers of the screen.
        tips: Tooltips of the marks, by their links.
    """
    root = ElementTree.fromstring(image(figure, "svg"))
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    for element in root.iter():
        target = element.attrib.pop(LINK, None)
        if target is not None:
            element.set("href", target)
            element.attrib.pop("target", None)
        if target in (tips or {}):
            ElementTree.SubElement(element, f"{{{SVG}}}title").text = (tips or {})[str(target)]
    root.set("role", "img")
    root.set("aria-label", title)
    return ElementTree.tostring(root, encoding="unicode")


def image(figure: Figure, kind: str) -> bytes:
    """A figure as the content of a file."""
    with LOCK:
        return picture(figure, kind)

"""The one look of all figures: colours, lines, marks, scales.

The colours are those of Okabe and Ito, which can be distinguished with any colour vision; lines also differ in style
and marks in shape. Errors are on logarithmic axes and scales. Fields with both signs have a diverging scale around
zero, all others a sequential one.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.colors import CenteredNorm, LogNorm, Normalize
from matplotlib.figure import Figure

# blue, vermilion, bluish green, orange, sky blue, reddish purple, black, yellow
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#000000", "#F0E442")
GREY = "#999999"
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
MARKS = "osD^vPX*"
SEQUENTIAL, DIVERGING = "cividis", "RdBu_r"
DECADES = 6  # of a logarithmic colour scale, below its largest value
STYLE: dict[Any, Any] = {
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.9",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "axes.prop_cycle": cycler(color=PALETTE),
    "svg.fonttype": "path",
}


@contextmanager
def style() -> Iterator[None]:
    """Apply the style of all figures; the user's own settings are restored at the end."""
    with mpl.rc_context(STYLE):
        yield


def field_scale(values: np.ndarray) -> tuple[str, Normalize]:
    """The colours of a field: diverging around zero if it has both signs to speak of, else sequential."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if min(-low, high) > 0.05 * max(-low, high):
        return DIVERGING, CenteredNorm(0.0, max(-low, high))
    return SEQUENTIAL, Normalize(low, high)


def error_scale(*values: np.ndarray) -> LogNorm:
    """One logarithmic scale for one or several fields of errors."""
    found = np.concatenate([np.asarray(one, float).ravel() for one in values])
    found = found[np.isfinite(found) & (found > 0)]
    high = float(found.max()) if len(found) else 1.0
    low = max(float(np.quantile(found, 0.02)) if len(found) else 0.1, high * 10.0**-DECADES, 1e-300)
    return LogNorm(min(low, high / 10), high)


def picture(figure: Figure, kind: str = "svg", dpi: int = 130) -> bytes:
    """A figure as the content of a file. The same figure gives the same bytes."""
    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "metalic"}):
        figure.savefig(file, format=kind, dpi=dpi, metadata={"Date": None} if kind == "svg" else None)
    return file.getvalue()


def data_uri(figure: Figure, kind: str = "svg", dpi: int = 130) -> str:
    """A figure as the text of a `src` attribute."""
    mime = {"svg": "image/svg+xml", "png": "image/png"}[kind]
    return f"data:{mime};base64,{base64.b64encode(picture(figure, kind, dpi)).decode()}"

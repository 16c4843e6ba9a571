"""A picture of the subdomains of a family with two coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .base import Family


def regions_figure(family: Family) -> Figure:
    """Draw the outlines of the subdomains, each with its name."""
    from matplotlib.collections import LineCollection  # half a second, which only pictures need

    from ..look import PALETTE, Drawing, style

    domain, subdomains = family.domain, family.decomposition.subdomains
    with style():
        figure = Drawing(figsize=(4.2, 3.4), layout="constrained")
        axis = figure.subplots()
        for place, (name, region) in enumerate(subdomains.items()):
            lines = list(region.outline())
            colour = PALETTE[place % len(PALETTE)]
            axis.add_collection(LineCollection(lines, colors=colour, linewidths=2.0, clip_on=False))
            corner = min((float(end[0]), float(end[1])) for line in lines for end in line)
            axis.annotate(str(name), corner, xytext=(6, 6), textcoords="offset points", color=colour)
        axis.set(xlabel=domain.names[0], ylabel=domain.names[-1])
        axis.set(xlim=(domain.low[0], domain.high[0]), ylim=(domain.low[-1], domain.high[-1]))
        axis.grid(False)
    return figure

"""How neighbours are stitched: interface conditions, their laws for one point, and the catalogue of a family."""

from .catalogue import Catalogue, cpinn_set, default_conditions, textbook_sets, xpinn_set
from .complete import complete_set, open_faces
from .laws import Condition
from .side import Side, touched

__all__ = [
    "Catalogue",
    "Condition",
    "Side",
    "complete_set",
    "cpinn_set",
    "default_conditions",
    "open_faces",
    "textbook_sets",
    "touched",
    "xpinn_set",
]

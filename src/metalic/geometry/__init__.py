"""Where a PDE lives: regions, their boundaries and interfaces, and points drawn from them."""

from .boxes import Box, Union
from .decomposition import Decomposition, Interface, split
from .region import Patch, Region
from .sampling import Points

__all__ = ["Box", "Decomposition", "Interface", "Patch", "Points", "Region", "Union", "split"]

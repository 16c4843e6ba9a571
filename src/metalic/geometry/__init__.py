"""Where a PDE lives: regions, their boundaries and interfaces, and points drawn from them."""

from .decomposition import Box, Decomposition, Interface, Patch, split
from .sampling import Points

__all__ = ["Box", "Decomposition", "Interface", "Patch", "Points", "split"]

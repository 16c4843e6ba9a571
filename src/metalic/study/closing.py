"""What is closed at the end of a `with` block."""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """A context manager that is closed at the end of its block, whatever happened in it."""

    @abstractmethod
    def close(self) -> None:
        """Release what was opened; closing twice does no harm."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

"""What the tests of the paper's experiments read."""

import csv
from pathlib import Path


def numbers(path: Path) -> list[dict[str, str]]:
    """The rows of a table in CSV."""
    with path.open() as file:
        return list(csv.DictReader(file))


def check_files(out: Path, item: str, names: list[str]) -> None:
    """Figures that are figures, and a table that says at which scale it was made."""
    for name in names:
        assert (out / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "Scale `small`" in (out / f"{item}.md").read_text()

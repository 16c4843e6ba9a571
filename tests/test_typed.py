"""The types as a user's checker sees them: names that do not exist are found, and what is returned is known."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import metalic as mt

solution = mt.solve("poisson", "u,c", s=20)
reveal_type(solution)
reveal_type(solution.seconds)
mt.solv("poisson")
mt.Study("a.db", "poisson").play("many")
"""


def test_a_users_mypy(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(PROGRAM)
    words = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--no-implicit-reexport", "user.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    lines = {int(line.split(":")[1]): line for line in done.stdout.splitlines() if line.startswith("user.py")}
    assert 'Revealed type is "metalic.pinn.solution.Solution"' in lines[5], done.stdout
    assert 'Revealed type is "float"' in lines[6]
    assert 'Module has no attribute "solv"' in lines[7]
    assert 'incompatible type "str"; expected "int"' in lines[8]
    assert set(lines) == {5, 6, 7, 8}

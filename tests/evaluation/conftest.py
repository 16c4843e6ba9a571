"""Studies whose plays are invented (helpers/decay.py), one of each length per module."""

import decay
import pytest

from metalic.study import Study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Sixty random plays."""
    path = decay.play(tmp_path_factory.mktemp("invented") / "a.db", 60)
    return Study(path, decay.Decay, read_only=True)


@pytest.fixture(scope="module")
def short_study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Thirty random plays."""
    path = decay.play(tmp_path_factory.mktemp("invented") / "a.db", 30)
    return Study(path, decay.Decay, read_only=True)

"""Compiled programs are kept between test processes: workers that run side by side, and runs one after another."""

import os
from pathlib import Path

CACHE = Path(__file__).parent / ".pytest_cache" / "programs"
os.environ.setdefault("METALIC_CACHE", str(CACHE))
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(CACHE / "programs"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.5")

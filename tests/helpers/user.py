"""A user's program. `make test-wheel` checks its types and runs it where only the wheel is installed."""

import metalic as mt

assert "site-packages" in mt.__file__, mt.__file__

with mt.Study("poisson", read_only=True) as study:  # the ledger in the wheel
    advice: mt.Recommendation = study.recommend(s=17.0)
assert advice.plays >= 200

solution: mt.Solution = mt.solve("poisson", s=17.0)  # from the library in the wheel
error: float | None = solution.error
assert solution.start is not None
assert error is not None
assert error < 1e-2
print(advice, solution, sep="\n")

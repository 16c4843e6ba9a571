# Everything from a fresh clone with nothing but python3 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := build/lowest
WHEEL := build/wheel
SMOKE := tests/pinn/test_solver.py tests/pinn/test_solution.py tests/bandit/test_bandit.py tests/study/test_ledger.py \
  tests/study/test_study.py tests/cli/test_families_command.py tests/cli/test_recommend_command.py

.PHONY: play test test-lowest test-wheel docs soak lint bench libraries clean

play: $(VENV)/.installed
	$(BIN)/metalic demo --out play

test: $(VENV)/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 --dist loadfile --durations=20

# The lowest versions that pyproject.toml allows, in an environment of their own: what users meet first still works.
test-lowest:
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct -e .
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python pytest hypothesis beartype
	$(LOWEST)/bin/python -m pytest -p no:xdist -o addopts="-q -m 'not soak' --import-mode=importlib" $(SMOKE)

# The sdist, the wheel that is built from it, and a user's program and commands where nothing else is installed.
test-wheel:
	rm -rf $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet --disable-pip-version-check build mypy
	$(WHEEL)/bin/python -m build --outdir $(WHEEL)/dist
	$(WHEEL)/bin/python -m pip install --quiet --disable-pip-version-check $(WHEEL)/dist/*.whl
	mkdir $(WHEEL)/empty && cp tests/helpers/user.py $(WHEEL)/empty
	cd $(WHEEL)/empty && ../bin/python -m mypy --strict --follow-imports=silent user.py
	cd $(WHEEL)/empty && ../bin/python -P user.py
	cd $(WHEEL)/empty && ../bin/metalic recommend poisson -p s=17 && ../bin/metalic solve poisson -p s=17 --out s17.npz

# The documentation site in build/site: warnings are errors, and the links of the built pages are checked.
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -c docs . build/site -W --keep-going -q
	$(BIN)/python docs/check_site.py build/site
	@echo "open build/site/index.html"

# Long and rough use: kills, damaged files, fuzzed command lines, thousands of plays; under 30 minutes on two cores.
soak: $(VENV)/.tests
	$(BIN)/pytest -n 2 --dist worksteal -m soak -rP

lint: $(VENV)/.tests
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Speed and memory against targets and peers, under 20 minutes on an idle machine.
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.bench --out results/bench

# The libraries of solved members inside the package, a few minutes each on an idle core; run again to continue.
libraries: MEMBERS = src/metalic/knowledge/members
libraries: $(VENV)/.installed
	mkdir -p $(MEMBERS)
	$(BIN)/metalic prepare poisson --out $(MEMBERS)/poisson.db --members 33 --refine 0
	$(BIN)/metalic prepare reaction --out $(MEMBERS)/reaction.db --members 33 --refine 0
	$(BIN)/metalic prepare advection --out $(MEMBERS)/advection.db --members 30 --refine 0 --begin beta=30
	$(BIN)/metalic prepare burgers --out $(MEMBERS)/burgers.db --members 33 --refine 0 --adaptive

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.tests: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@ $(VENV)/.installed

$(VENV)/.docs: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

# PyTorch first and pinned: a range would pull several gigabytes.
$(VENV)/.bench: pyproject.toml | $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	touch $@

clean:
	rm -rf $(VENV) play build docs/gallery docs/api

# make run | make test | make test-full | make check | make mutants | make bench | make probe-wheel
# make bundle
#
# Needs Python 3.11 or newer with pip and venv, make and git; the rest is installed into .venv,
# which is kept until pyproject.toml changes.

VENV := .venv
PYTHON = $(VENV)/bin/python
# The first Python on this machine that is new enough.
SYSTEM_PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; \
	done)
# What `make run` opens, `make bench` measures or `make mutants` changes: make run ARGS="my_scene.py"
ARGS ?=
# Processes that share the tests, or 0 for a debugger: make test WORKERS=0
WORKERS ?= auto

# Compiled modules are kept: hundreds of programs that tests start would compile the same ones.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-full check mutants bench probe-wheel bundle

help:
	@echo "make run    open the window on a lively scene (ARGS=\"my_scene.py\" for another)"
	@echo "make test   everything that must hold before a change goes in"
	@echo "make test-full  the same with more and other random examples, for an hour of the night"
	@echo "make check  the quick half of make test: style, types, import rules"
	@echo "make mutants  put small faults into the code, and tell which of them no test notices"
	@echo "make bench  measure against other libraries and write the table"
	@echo "make bundle  build dist/timeline-inspector/ and one file of it, for people without Python"
	@echo "make probe-wheel  build dist/timeline_probe-*.whl, for programs that let themselves be inspected"

run: $(VENV)/.installed
	@.ci/qt-libraries $(PYTHON)
	@$(PYTHON) -m inspector $(ARGS)

test: check
	@.ci/qt-libraries $(PYTHON)
	$(PYTHON) -m pytest -n $(WORKERS) --dist worksteal

test-full: check
	@.ci/qt-libraries $(PYTHON)
	TIMELINE_INSPECTOR_FUZZ=$${TIMELINE_INSPECTOR_FUZZ:-50} HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-ci} \
		$(PYTHON) -m pytest -n $(WORKERS) --dist worksteal -o timeout=3600 -o faulthandler_timeout=7200

check: $(VENV)/.installed-dev
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(VENV)/bin/lint-imports

mutants: $(VENV)/.installed-dev
	@.ci/qt-libraries $(PYTHON)
	nice $(PYTHON) -m tests.mutants $(ARGS)

bench: $(VENV)/.installed-bench
	@.ci/qt-libraries $(PYTHON)
	QT_QPA_PLATFORM=$${QT_QPA_PLATFORM:-offscreen} $(PYTHON) -m tests.benchmarks $(ARGS)

probe-wheel: $(VENV)/.installed-dev
	$(PYTHON) -m build --wheel --no-isolation --outdir dist .ci/probe-wheel

bundle: $(VENV)/.installed-bundle
	@.ci/qt-libraries $(PYTHON)
	$(PYTHON) -m PyInstaller --noconfirm --log-level ERROR --distpath dist --workpath build/bundle \
		.ci/bundle/timeline-inspector.spec
	cp .ci/bundle/linux/* resources/icons/timeline-inspector.svg dist/timeline-inspector/
	tar -C dist -cJf dist/timeline-inspector.tar.xz timeline-inspector

# Each stamp says that one set of requirements is installed; --group needs pip 25.1.
$(VENV)/.installed: pyproject.toml
	@.ci/virtual-environment "$(SYSTEM_PYTHON)" $(VENV)
	$(PYTHON) -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PYTHON) -m pip install --quiet --group dev
	@touch $@

$(VENV)/.installed-bundle: $(VENV)/.installed
	$(PYTHON) -m pip install --quiet --group bundle
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed-dev
	$(PYTHON) -m pip install --quiet --group bench
	@touch $@

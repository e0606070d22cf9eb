# `make demo` and `make test` do their own set-up; they need Python 3.11+, make and git.
.DEFAULT_GOAL := help
.NOTPARALLEL:

PY := .venv/bin/python

.PHONY: help demo test soak fuzz bench docs record live pins clean ready-run ready-dev

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1 - \2/p' Makefile

demo: ready-run ## a round trip on the embedded server, explained; no account and no token needed
	@.venv/bin/persist-marker demo

test: ready-dev ## lint, types and all tests
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy
	$(PY) -m pytest -n 2

soak: ready-dev ## SOAK_WRITES=2000 writes under faults, then 200,000 histories (HISTORIES=N for another number); takes hours
	PYTHONPATH=. $(PY) tests/soak.py
	HISTORIES=$${HISTORIES:-200000} $(PY) -m pytest -n 2 tests/test_histories.py

fuzz: ready-dev ## feed all that reads others' bytes by coverage, FUZZ_SECONDS=60 each (Linux on x86-64, Python to 3.13)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/fuzz.txt
	PYTHONPATH=. $(PY) tests/fuzz/run.py $${FUZZ_SECONDS:-60}

bench: ready-dev ## measure cost and start-up beside peers; writes docs/benchmarks.md
	$(PY) -m bench.run

docs: ready-dev ## write the generated pages of docs/ anew
	$(PY) -m cogapp -r -I scripts docs/*.md

record: ready-dev ## record the cassettes anew against a real scratch repository (it says what to set)
	$(PY) scripts/record.py

live: ready-dev ## run the live tests against a real scratch repository (it says what to set)
	$(PY) scripts/live.py

pins: ## pin the requirements anew (needs uv); UPGRADE=--upgrade takes newer versions
	scripts/pin.sh $(UPGRADE)

clean: ## remove what the other targets made
	rm -rf .venv .tmp build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

ready-run:
	@scripts/setup.sh run

ready-dev:
	@scripts/setup.sh dev

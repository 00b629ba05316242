# Everything a newcomer needs is `make demo` and `make test`; both set up what they need first.
SHELL := bash
VENV := .venv/bin
# Spark takes JAVA_HOME before PATH, so a default Java that is too new does no harm.
java = JAVA_HOME="$$(scripts/java-home.sh)"

.PHONY: help setup demo test slow connect check format bench differential fuzz matrix scan-filters tpcds versions iceberg wheel proofs docs screenshots in-turn release

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

.venv/.ready: pyproject.toml scripts/setup.sh
	@scripts/setup.sh

# What presieve itself needs, for those who do not want to test it; all of it is in .ready, too.
.venv/.demo: pyproject.toml scripts/setup.sh
	@[ .venv/.ready -nt pyproject.toml ] && touch $@ || scripts/setup.sh demo

setup: .venv/.ready ## make .venv with everything, and see to Java 17 or 21

demo: .venv/.demo ## three pipelines as written and as optimized, with a report
	@$(java) $(VENV)/presieve demo $(ARGS)

# What differs most between the two kinds of sessions: the whole is `make connect`.
BOTH := $(addprefix tests/backend/,test_pipelines.py test_declined.py connect/test_windows_of_columns.py)

# A JVM starts from it in half the time.
.venv/spark.jsa: .venv/.ready scripts/spark_archive.py
	@echo "the classes of Spark, for the tests: once, half a minute"
	@rm -f $@; $(java) $(VENV)/python scripts/spark_archive.py $@ 2>/dev/null || touch $@

test: .venv/spark.jsa ## the test suite, in two processes, and a part of it on Spark Connect
	@$(java) $(VENV)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow" $(or $(ARGS),--part)
	@$(if $(ARGS),,$(MAKE) --no-print-directory connect ARGS="--part $(BOTH)")

slow: .venv/spark.jsa ## what `make test` leaves out, and all of `make connect`
	@$(java) $(VENV)/python -m pytest --thorough -m "slow or random" $(ARGS)
	@$(if $(ARGS),,$(java) $(VENV)/python -m pytest --compiled -m "spark and not slow" tests/backend)
	@$(if $(ARGS),,$(MAKE) --no-print-directory connect)

connect: .venv/spark.jsa ## the tests of pipelines once more, on Spark Connect (one server, one process)
	@$(java) $(VENV)/python -m pytest --connect $(or $(ARGS),--thorough tests/backend)

check: .venv/.ready ## lint, format, types and layers
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy
	$(VENV)/lint-imports

format: .venv/.ready ## let ruff rewrite what it can
	$(VENV)/ruff check --fix .
	$(VENV)/ruff format .

bench: .venv/.ready ## the published benchmarks; a line for benchmarks/ledger.jsonl
	@$(VENV)/presieve bench synth --ledger benchmarks/ledger.jsonl --svg benchmarks/synth.svg $(ARGS)

differential: .venv/.ready ## the published benchmarks on millions of groups, their proofs by cvc5
	@$(VENV)/python -m tests.differential --ledger benchmarks/ledger.jsonl $(ARGS)

fuzz: .venv/.ready ## random folds, filters and tables; ARGS are those of tests/fuzz
	@$(java) $(VENV)/python -m tests.fuzz $(ARGS)

matrix: .venv/.ready ## every pipeline of the tests in every layout of files and kind of scan
	@$(java) $(VENV)/python -m pytest tests/matrix/all_cells.py $(ARGS)

scan-filters: .venv/.ready ## filters that Spark does not hand to scans; writes docs and benchmarks/results
	@$(java) $(VENV)/python -m benchmarks.scan_filters.page $(ARGS)

.venv/.tpcds: .venv/.ready
	@$(VENV)/python -m pip install -q -e '.[tpcds]' && touch $@

tpcds: .venv/.tpcds ## the 99 queries of TPC-DS, as they are and optimized; writes docs and benchmarks/results
	@$(java) $(VENV)/python -m benchmarks.tpcds $(ARGS)

versions: .venv/.ready ## the tests of Spark on each version that is served; writes docs and benchmarks/results
	@$(java) $(VENV)/python scripts/versions.py $(ARGS)

screenshots: .venv/.ready ## the pictures of reports in docs/images; needs Chromium
	@$(java) $(VENV)/python scripts/screenshots.py $(ARGS)

wheel: .venv/.ready ## build sdist and wheel, and try the wheel in an environment of its own
	@scripts/wheel.sh

proofs: ## check the theory with Coq; says what to install where Coq is missing
	@scripts/proofs.sh

docs: .venv/.ready ## the documentation as a site, in build/docs
	@$(VENV)/python -m sphinx -q -W --keep-going -n -c docs -d build/doctrees . build/docs
	@echo "build/docs/index.html"

in-turn: .venv/spark.jsa ## one of the long suites, which the number of commits chooses
	@$(java) $(VENV)/python scripts/suite_in_turn.py $(ARGS)

release: .venv/spark.jsa ## all suites on this commit, whole; may be ended and called again; writes docs
	@$(java) $(VENV)/python scripts/release.py $(ARGS)

iceberg: .venv/.ready ## tables of Iceberg, on Spark 3.5 with Iceberg's own runtime
	@$(java) $(VENV)/python scripts/iceberg.py $(ARGS)

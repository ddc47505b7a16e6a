# make demo and make test do all set-up on a fresh Debian with python3, python3-venv, make and git.
PYTHON ?= python3
BIN := .venv/bin
WEB := ../shared/data/debdocs.warc.gz

.PHONY: demo test fuzz lint validators pictures bench bench-documents bench-quick soak soak-quick gate same faults slow clean

demo: .venv/installed
	$(BIN)/analecta demo --force

# Tests mostly wait, so more of them run at once than there are cores; TESTS_AT_ONCE=0 runs them one after the other.
TESTS_AT_ONCE ?= 3
test: lint validators
	$(BIN)/pytest -n $(TESTS_AT_ONCE) --dist worksteal
	$(MAKE) bench-quick soak-quick

# The property tests with other cases each time, again and again: turn what is found into fixed cases. ROUNDS=1 takes minutes.
ROUNDS ?= 10
fuzz: .venv/installed
	for round in $$(seq $(ROUNDS)); do HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest -m 'hypothesis and not slow' --timeout 1800 || exit 1; done

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Checkers that others wrote, for published pages and packages. Tests that need them are skipped without.
validators: .validators/installed .validators/tools/installed

.validators/installed: Makefile
	@if command -v npm >/dev/null; then \
	  npm install --silent --no-audit --no-fund --prefix .validators axe-core@4 vnu-jar@26 && touch $@; \
	else echo "npm is not installed: pages are not checked with axe-core and the Nu HTML checker"; fi

# Packages are replayed by pywb, which wants an environment of its own: its brotlipy takes the place of our brotli.
.validators/tools/installed: Makefile
	$(PYTHON) -m venv .validators/tools
	.validators/tools/bin/pip install --quiet --disable-pip-version-check wacz pywb cdxj-indexer
	touch $@

# What documents cost: PDFs beside pdftotext (Debian's poppler-utils), and a crawl with a fifth of PDFs. Needs nginx.
bench-documents: .venv/bench
	$(BIN)/python benchmarks/documents.py
	$(BIN)/python benchmarks/mixed.py

# The full benchmarks: CPU by step, against peers, against the bare loop, two workers, ten million URLs, half a million
# pages. Needs nginx and wget.
bench: .venv/bench
	$(BIN)/python benchmarks/steps.py
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python benchmarks/limit.py
	$(BIN)/python benchmarks/workers.py
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/analysis.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/reclassify.py
	$(BIN)/python benchmarks/communities.py

# A short form of what needs nothing but Python, so that it cannot rot.
bench-quick: .venv/installed
	$(BIN)/python benchmarks/steps.py --quick
	$(BIN)/python benchmarks/analysis.py --quick
	$(BIN)/python benchmarks/search.py --quick
	$(BIN)/python benchmarks/reclassify.py --quick
	$(BIN)/python benchmarks/communities.py --quick
	$(BIN)/python benchmarks/scale.py --quick

# A hostile web of 300 hosts at delay 1 for half an hour; then the same with 30 times kill -9.
soak: .venv/installed
	$(BIN)/python benchmarks/soak.py --minutes 30
	$(BIN)/python benchmarks/soak.py --minutes 10 --kills 30 -o benchmarks/out/kills.json

# Two minutes of it: counts, order and memory are asserted, rates and latencies printed.
soak-quick: .venv/installed
	$(BIN)/python benchmarks/soak.py --quick

# The quality floors pinned in gates/: recall of the recipes and F1 of the judges on real webs, communities found.
gate: .venv/installed
	$(BIN)/python gates/check.py

# Does the working tree do the same as a commit? For changes of structure: make same AGAINST=main~5
same: .venv/installed
	$(BIN)/python gates/same.py $(if $(AGAINST),--against $(AGAINST),--quick)

# 200 kills of a 5,000-page crawl, and the other full-size fault runs.
faults: .venv/installed
	$(BIN)/pytest tests/faults -m slow --timeout 3600

slow: .venv/installed
	$(BIN)/pytest -m slow --timeout 3600

# The pictures of docs/, from real runs: the demo in a terminal; map and site of a real web in Chromium.
pictures: .venv/installed
	$(BIN)/python docs/picture.py
	$(BIN)/python -m docs.screenshots

clean:
	rm -rf .venv .validators build dist *.egg-info demo-library benchmarks/out .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

.venv/bench: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev,bench]'
	touch $@

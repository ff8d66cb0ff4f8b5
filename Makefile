# Every target sets up what it needs and is quick when there is nothing to do. PYTHON chooses the Python of .venv.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# The Python for .venv, 3.10 or newer; tests run on 3.11 and 3.13 where these are found.
PYTHON ?= $(or $(shell tools/find_python 3.11 3.12 3.13 3.10 3.14 3.15),$(error no Python 3.10 or newer was found; install one (Debian: apt-get install python3) or name it: make PYTHON=…))
TEST_PYTHONS ?= 3.11 3.13
PYTEST_ARGS ?=
FUZZ_ARGS ?=
VENV := .venv/bin
# So that a second checkout, a build of a wheel (in a folder of its own) and CI find what was compiled before.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

.PHONY: help setup demo test test-all test-cpp test-python test-consumer test-sanitizers fuzz test-wheels bench lint format clean

help:  ## show this
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

setup: build/.venv-is-set-up  ## Debian packages, .venv, the core in build/release, `wf` and `import workflow` in .venv
	@tools/build_bindings $(VENV)/python

build/.packages-are-installed: tools/packages.txt
	@tools/setup packages build && mkdir -p build && touch $@

build/.test-packages-are-installed: tools/packages.txt
	@tools/setup packages build test && mkdir -p build && touch $@

build/.venv-is-set-up: tools/requirements-dev.txt tools/constraints-dev.txt | build/.packages-are-installed
	@tools/setup venv .venv $(if $(wildcard $(VENV)/python),$(VENV)/python,$(PYTHON)) && touch $@

demo: setup  ## run the slow pipeline, name its bottleneck, run the fixed one, compare (a minute or two)
	@$(VENV)/python examples/image_classification/demo.py

test: setup build/.test-packages-are-installed  ## C++ and Python tests (on Python 3.11 and 3.13) and the library's consumer
	@tools/test_cpp release
	@tools/test_consumer
	@tools/test_python $(TEST_PYTHONS) -- $(PYTEST_ARGS)

test-all: test test-sanitizers test-wheels  ## test, sanitizers, `pip install .` on every Python, the slow tests
	@tools/test_python $(TEST_PYTHONS) -- -m slow $(PYTEST_ARGS)

test-cpp: setup  ## only the C++ tests
	@tools/test_cpp release

test-python: setup build/.test-packages-are-installed  ## only the Python tests; PYTEST_ARGS narrows them
	@tools/test_python $(TEST_PYTHONS) -- $(PYTEST_ARGS)

test-consumer: setup  ## a program that uses the installed C++ library
	@tools/test_consumer

test-sanitizers: setup  ## C++ tests under AddressSanitizer with UBSan, and ThreadSanitizer
	@tools/test_cpp asan-ubsan
	@tools/test_cpp tsan

fuzz: setup  ## libFuzzer looks for inputs that do harm, a minute for each parser; FUZZ_ARGS="NAME SECONDS" narrows it
	@tools/fuzz $(FUZZ_ARGS)

test-wheels: setup  ## `pip install .` into a fresh environment on Python 3.10 to 3.15, tried outside the tree
	@tools/test_wheels 3.10 3.11 3.12 3.13
	@tools/newer_python test

bench: setup  ## the benchmarks beside their peers, which get an environment of their own
	@tools/setup packages bench
	@tools/bench

lint: setup  ## formatters in check mode, clang-tidy, ruff, mypy --strict, the layer check
	@tools/lint

format: setup  ## rewrite the sources as the formatters want them
	@tools/lint --fix

clean:  ## remove everything that was built, the virtual environments too
	rm -rf build .venv python/workflow/_core*.so .mypy_cache .ruff_cache .pytest_cache

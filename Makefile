# Short names for the presets of CMakePresets.json and the scripts in tools/.
.DEFAULT_GOAL := dev
# Options of the benchmark, e.g. BENCH='lookup --keys 1000000'.
BENCH ?= all
# First seed of `make oracle`.
SEED ?= 1

.PHONY: dev release bench test oracle asan-test tsan-test lint format install clean help

dev: ## build with every check on, into out/dev
	@tools/build dev

release: ## build the program as users run it: build/sidestep
	@tools/build release

bench: ## measure lookups beside those of others, with targets; takes minutes on a quiet machine
	@tools/install_packages run bench
	@tools/build release
	@build/sidestep bench $(BENCH)

test: dev ## build and run all tests
	@tools/run_tests dev

oracle: dev ## compare 200,000 random SRv6 packets with the running kernel; needs root, takes minutes
	@out/dev/tests/srv6_oracle --configs 200 --packets 1000 --seed $(SEED)

asan-test: ## the same under AddressSanitizer and UndefinedBehaviorSanitizer, but for comparisons with the kernel
	@tools/build asan
	@tools/run_tests asan --label-exclude kernel

tsan-test: ## the tests that use threads under ThreadSanitizer
	@tools/build tsan
	@tools/run_tests tsan

lint: ## format, layers, headers, words, clang-tidy, shellcheck, codespell
	@tools/lint/all

format: ## format all C++ files
	@git ls-files -z '*.hpp' '*.cpp' | xargs -0 clang-format-19 -i

install: release ## install the program (DESTDIR is respected)
	@cmake --install build

clean: ## remove everything that was built
	@rm -rf build out

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

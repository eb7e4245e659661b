# Forwards only: what a target does is one command. `make help` lists them.

GO        ?= go
FUZZTIME  ?= 10s
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# Further flags for `make sim` and `make sim-long`, for example SIMFLAGS='-base 41 -seeds 1', and for `make microbench`.
SIMFLAGS   ?=
MUTANTS    ?=
BENCHFLAGS ?= -benchmem
BENCH      ?=
# Versions, JSON=1 for one object a line, and a part of the names of cases, for `make bench-sync`.
N          ?= 100000
JSON       ?=
CASE       ?=

LINT = $(GO) tool -modfile=tools/go.mod golangci-lint

# fleetd has no cgo. Only the race detector needs a C compiler.
export CGO_ENABLED = 0

.DEFAULT_GOAL := help
.PHONY: help build test race fuzz sim sim-long mutants scale bench bench-sync microbench lint fmt vet cross check

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build every package, and the program into bin/
	$(GO) build ./...
	$(GO) build -o bin/ ./cmd/fleetd

test: ## run the tests
	$(GO) test -shuffle=on -timeout 20m ./...

race: ## run the tests under the race detector
	CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 40m ./...

fuzz: ## fuzz every target for FUZZTIME (10s)
	GO='$(GO)' tools/fuzz $(FUZZTIME)

SIM = $(GO) test -count=1 -v ./simulation -timeout

sim: ## run 1,000 seeds of the simulation, new with each change of the code, and every regression (SIMFLAGS)
	$(SIM) 60m -run '^Test(Seeds|SeedsWithoutGossip|Regressions|SameSeedSameTrace)$$' -seeds 1000 $(SIMFLAGS)

sim-long: ## run 100,000 fresh seeds, with figures after every 2,000 (SIMFLAGS)
	$(SIM) 0 -run '^TestSeeds$$' -seeds 100000 -block 2000 -base $$(date +%s)00000 $(SIMFLAGS)

mutants: ## plant every fault, and write which seed notices it (MUTANTS names some)
	$(GO) run ./simulation/mutants $(MUTANTS)

scale: ## measure fleets of 3 to 1,000 replicas, and write docs/scale.md
	$(GO) run ./simulation/scale

bench: ## print what fleetd costs beside this machine's floor (BENCH names a part)
	$(GO) -C bench run . $(BENCH)

bench-sync: ## print what convergence costs at N versions (100,000), beside its aims (JSON, CASE)
	@$(GO) -C bench run . sync -n $(N) $(if $(JSON),-json) -case '$(CASE)'

microbench: ## run every Go benchmark (BENCHFLAGS)
	GO='$(GO)' tools/bench $(BENCHFLAGS)

lint: ## lint and check the format
	$(LINT) run ./...

fmt: ## format the code
	$(LINT) fmt ./...

vet: ## vet every package, also those of bench/
	$(GO) vet ./...
	$(GO) -C bench vet ./...

cross: ## build and vet for every system and processor
	@set -e; for platform in $(PLATFORMS); do \
		echo "cross $$platform"; \
		export GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
		$(GO) build ./...; \
		$(GO) vet ./...; \
	done

check: build cross lint vet race sim fuzz ## everything a change must pass

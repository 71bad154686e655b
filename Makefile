# KICK. Go and make are all you need: every tool is built from the modules below
# .tools, once, into a cache outside the tree.

# No cgo: no C compiler needed, and packages compiled for the control plane are
# found again in the build cache.
export CGO_ENABLED = 0
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

NODE    ?= fake
SUITE   ?= chainsaw/suites
CLUSTER  = go run ./kick/kicktest/cluster
# $(call tool,NAME) is the path of a pinned tool, built on first use.
tool     = $(or $(shell $(CLUSTER) tool $(1)),$(error cannot build $(1)))

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: bin/kick-sim ## replay all scenarios in the simulator
	@bin/kick-sim run scenarios/

.PHONY: crash
crash: bin/kick-sim ## kill the operator at every write of every scenario, and twice in the shortest
	@bin/kick-sim explore --profile crash --pairs --keep-going scenarios/

.PHONY: test
test: ## run all tests; the first time this builds a control plane, about 8 minutes
	@$(CLUSTER) build
	@$(call tool,gotestsum) --format pkgname --format-hide-empty-pkg -- -timeout 60m $(TESTFLAGS) ./...

.PHONY: test-fidelity
test-fidelity: ## compare the simulator with the real control plane at length, on a quiet machine
	@$(CLUSTER) build
	@go test -count=1 -timeout 60m -run TestCorpus ./sim/fidelity -args -fidelity.sequences 700 -fidelity.seed $(or $(SEED),100000)
	@go test -count=1 -timeout 60m -run TestWorldDoesAsTheRealOne ./sim/world -args -world.every -world.strict
	@go test -count=1 -timeout 3h -run 'TestAll|TestRealNode' ./sim/confirm -args -confirm.all -confirm.real

.PHONY: lint
lint: ## check the import law and the house rules
	@$(call tool,golangci-lint) run

.PHONY: generate
generate: ## write CRDs, deepcopy functions and roles from markers, the chart's share of them, and pages from the code
	@$(call tool,controller-gen) object crd rbac:roleName=kick paths=./kick/... \
		output:crd:dir=kick/api/crds output:rbac:dir=kick/operator/rbac
	@go run ./charts/generate
	@go run ./site/generate

.PHONY: verify
verify: ## fail if a generated file is not what generate writes
	@tmp=$$(mktemp -d) && trap 'rm -rf "$$tmp"' EXIT && mkdir "$$tmp/tree" "$$tmp/generated" && \
	for copy in tree generated; do \
		git ls-files -coz --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$$tmp/$$copy"; \
	done && $(MAKE) -C "$$tmp/generated" generate && cd "$$tmp" && \
	git --no-pager diff --no-index --exit-code tree generated || \
	{ echo "generated files differ: run make generate and commit what it writes"; exit 1; }

.PHONY: build
build: bin/kick bin/kick-sim bin/kubectl-kick ## compile all commands into bin/

# The Go build cache knows better than make what is out of date.
.PHONY: bin/kick bin/kick-sim bin/kubectl-kick
bin/kick bin/kick-sim bin/kubectl-kick: bin/%:
	@go build -o $@ ./cmd/$*

.PHONY: demo
demo: ## see a changed Secret restart its Deployment on a real control plane; DEMOFLAGS=--once ends by itself
	@go build -o bin/demo ./kick/kicktest/demo && exec bin/demo $(DEMOFLAGS)

.PHONY: cluster-up
cluster-up: ## start a control plane and leave it running; NODE=real for real containers
	@$(CLUSTER) up --node $(NODE)

.PHONY: cluster-down
cluster-down: ## end it
	@$(CLUSTER) down

.PHONY: test-e2e
test-e2e: ## run all Chainsaw suites against the operator on a real control plane, then recovery and chart; test-e2e-flux runs one
	@$(CLUSTER) e2e --suite $(SUITE)
	@$(if $(filter chainsaw/suites,$(SUITE)),$(MAKE) test-e2e-recovery test-e2e-chart)

.PHONY: test-e2e-recovery
test-e2e-recovery: ## kill the operator in the midst of restarts 50 times, on a real control plane
	@$(CLUSTER) build
	@go test -count=1 -timeout 60m -v -run TestKilledOverAndOver ./kick/operator -args -operator.kills 50

.PHONY: test-e2e-share
test-e2e-share: ## change a ConfigMap that 500 workloads share, on a real control plane; takes about 5 minutes
	@$(CLUSTER) build
	@go test -count=1 -timeout 60m -v -run TestManyShareOneConfigMap ./kick/operator -args -operator.share 500

.PHONY: test-e2e-chart
test-e2e-chart: ## install, upgrade and uninstall the chart on a real control plane, and run its operator with its rights in its cage
	@$(CLUSTER) build
	@go test -count=1 -timeout 60m -v ./charts/charttest

.PHONY: test-e2e-scenario
test-e2e-scenario: ## run the tests that show one numbered scenario: E2E=038
	@tests=$$(grep -rlE 'kick.corewire.io/e2e: "?$(or $(E2E),none)"?$$' chainsaw/suites) || { echo "no test shows scenario '$(E2E)'; these are shown:" \
		$$(grep -rhoE 'kick.corewire.io/e2e: .*' chainsaw/suites | tr -dc '0-9\n' | sed 's/^2//' | sort -u) >&2; exit 1; }; \
	for test in $$tests; do $(CLUSTER) e2e --suite $$(dirname $$test) || exit 1; done

.PHONY: test-e2e-render
test-e2e-render: ## write all Chainsaw tests into bin/e2e as they run, with templates filled in, and check them; needs no cluster
	@$(CLUSTER) render --suite $(SUITE)

test-e2e-%:
	@$(CLUSTER) e2e --suite chainsaw/suites/$*

.PHONY: bench
bench: ## measure the simulator and the restart latency
	@go test -run '^$$' -bench . -benchmem $(BENCHFLAGS) ./sim/... ./kick/...

.PHONY: bench-sim
bench-sim: bin/kick-sim ## measure exploration: schedules and events a second, simulated years an hour, the crash pass
	@go test -run '^$$' -bench 'Schedule|Explore|Years' $(BENCHFLAGS) ./sim/run ./sim/explore
	@bin/kick-sim explore --for 20s --keep-going
	@bin/kick-sim explore --profile crash --keep-going scenarios/

.PHONY: mutants
mutants: ## plant every known bug into the operator and see how fast the simulator finds it; MUTANTFLAGS=--only=P07
	@go run ./sim/mutants $(MUTANTFLAGS)

.PHONY: mutation-score
mutation-score: ## see how many small changes of the decisions go unnoticed; takes half an hour; MUTANTFLAGS=--only=freshness
	@go run ./sim/mutants --score --for 10s $(MUTANTFLAGS)

KIND         ?= kind
KIND_CLUSTER ?= kick-dev
.PHONY: kind-create kind-load kind-delete install
kind-create: ## with Docker: a cluster for development, made by kind
	@$(KIND) create cluster --name $(KIND_CLUSTER)

kind-load: ## build KICK's image and load it into that cluster
	@docker build --tag kick:dev .
	@$(KIND) load docker-image kick:dev --name $(KIND_CLUSTER)

install: ## install the chart there with that image; again after each kind-load
	@$(call tool,helm) upgrade --install kick charts/kick --kube-context kind-$(KIND_CLUSTER) --namespace kick-system --create-namespace \
		--set image.repository=kick,image.tag=dev,image.pullPolicy=Never --set-string podAnnotations.installed=$$(date +%s) --wait

kind-delete: ## end that cluster
	@$(KIND) delete cluster --name $(KIND_CLUSTER)

.PHONY: site
site: ## build the pages as a web site into bin/site, and each as plain Markdown beside it
	@site/build

.PHONY: docs
docs: ## check the pages: links, commands, manifests, what is generated, the site, the drawing of the imports
	@go test -count=1 ./kick/kicktest/house ./kick/kicktest/importlaw ./traceability/... ./site/docstest && echo "start at docs/README.md"

.PHONY: release-check
release-check: ## check what a release is made with; with goreleaser on PATH or in bin it also checks its configuration and builds
	@go test -count=1 ./kick/kicktest/release
	@$(call tool,helm) lint --strict charts/kick
	@for os in linux/amd64 linux/arm64; do for n in 1 2; do \
		CGO_ENABLED=0 GOOS=$${os%/*} GOARCH=$${os#*/} go build -trimpath -buildvcs=false -ldflags='-s -w -buildid=' -o bin/release-$$n ./cmd/kick || exit 1; \
		done; cmp bin/release-1 bin/release-2 && echo "$$os: built twice, the same bytes" || exit 1; rm bin/release-1 bin/release-2; done
	@PATH="$(CURDIR)/bin:$$PATH"; if command -v goreleaser >/dev/null; then goreleaser check && goreleaser build --snapshot --single-target --clean --skip=before; \
	else echo "no goreleaser on PATH: its configuration is read by its own reader, and no more; make bin/goreleaser builds it"; cd .tools/goreleaser && go run . ../../.goreleaser.yaml; fi

# Not one of .tools, as nothing but release-check runs it: it brings the SDKs of all clouds.
bin/goreleaser:
	@echo "building goreleaser; on two cores that takes a quarter of an hour or more" && GOBIN=$(CURDIR)/bin go install github.com/goreleaser/goreleaser/v2@v2.15.0

VULNDB ?= https://vuln.go.dev
.PHONY: vulncheck
vulncheck: ## look for known vulnerabilities in what is called; says it if the database cannot be reached
	@if curl --silent --fail --max-time 20 --output /dev/null $(VULNDB)/index/db.json; then \
		go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db $(VULNDB) ./cmd/...; \
	else echo "NOT CHECKED: the database of vulnerabilities at $(VULNDB) cannot be reached"; exit 1; fi
.PHONY: trace
trace: ## check that every feature is proven, and write the report into bin/trace
	@go build -o bin/kick-trace ./cmd/kick-trace
	@for form in md json html; do bin/kick-trace report -o $$form --out bin/trace; done
	@bin/kick-trace check

.PHONY: clean
clean: ## remove what build and test wrote into the tree; the cache stays
	@rm -rf bin

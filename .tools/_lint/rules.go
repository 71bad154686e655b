//go:build ruleguard

// Package rules holds what golangci-lint's other linters cannot express.
package rules

import "github.com/quasilyte/go-ruleguard/dsl"

// threads keeps the simulator deterministic: what it replays runs on one thread.
func threads(m dsl.Matcher) {
	m.Match(`go $_`).
		Where(!m.File().Name.Matches(`_test\.go$`)).
		Report(`the simulator replays this code on one thread: no goroutine here`)
}

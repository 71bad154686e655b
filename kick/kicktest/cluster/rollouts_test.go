package main

import "testing"

func TestHasRollouts(t *testing.T) {
	for suite, want := range map[string]bool{
		"chainsaw/suites":                       true,
		"chainsaw/suites/":                      true,
		"chainsaw":                              true,
		"chainsaw/suites/rollouts":              true,
		"chainsaw/suites/rollouts/restart":      true,
		"/house/chainsaw/suites/rollouts":       true,
		"chainsaw/suites/core":                  false,
		"chainsaw/suites/rollouts-of-others":    false,
		"/elsewhere/chainsaw/suites/rollouts":   false,
		"chainsaw/suites/core/../rollouts":      true,
		"chainsaw/suites/core/rollout-progress": false,
	} {
		if got := hasRollouts("/house", suite); got != want {
			t.Errorf("hasRollouts(%q) = %t, want %t", suite, got, want)
		}
	}
}

// Package house tests the house rules that no linter can express, on the source
// text itself. It holds tests only.
package house

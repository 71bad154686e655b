//go:build !linux

package controlplane

import (
	"context"
	"errors"
)

// RelayCommand and Relay exist on Linux only.
const RelayCommand = "relay"

var errNotLinux = errors.New("it needs Linux")

func realNodeUnavailable() error                               { return errNotLinux }
func makeCgroups(string) error                                 { return errNotLinux }
func removeCgroups(string) error                               { return nil }
func (*ControlPlane) startRelay(context.Context, string) error { return errNotLinux }

// Relay refuses.
func Relay([]string) error { return errNotLinux }

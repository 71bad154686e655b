package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// output is a file that a long run writes at its end. It is opened before, so that a
// name that cannot be written is noticed then; what it held stays until it is written.
// The zero output is no file.
type output struct {
	file    *os.File
	created bool // and nothing is in it yet
}

// reserve opens a file for writing; an empty name is no file.
func reserve(name string) (*output, error) {
	if name == "" {
		return &output{}, nil
	}
	_, err := os.Stat(name)
	created := errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, exitError{exitUnusable, "kick-sim: " + err.Error()}
	}
	return &output{file, created}, nil
}

// write fills the file with what write makes.
func (o *output) write(write func(io.Writer) error) error {
	if o.file == nil {
		return nil
	}
	o.created = false
	if info, err := o.file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := o.file.Truncate(0); err != nil {
			return err
		}
	}
	if err := write(o.file); err != nil {
		return fmt.Errorf("write %s: %w", o.file.Name(), err)
	}
	err := o.file.Close()
	o.file = nil
	return err
}

// release gives up a file that was not written.
func (o *output) release() {
	if o == nil || o.file == nil {
		return
	}
	_ = o.file.Close()
	if o.created {
		_ = os.Remove(o.file.Name())
	}
}

// folder makes a folder and checks that files can be made in it; an empty name is none.
func folder(name string) error {
	if name == "" {
		return nil
	}
	err := os.MkdirAll(name, 0o755)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(name, ".kick-sim"); err == nil {
			_ = probe.Close()
			err = os.Remove(probe.Name())
		}
	}
	if err != nil {
		return exitError{exitUnusable, "kick-sim: " + err.Error()}
	}
	return nil
}

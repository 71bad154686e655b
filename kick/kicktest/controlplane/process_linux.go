package controlplane

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// attributes put a child into a group of its own, so that Ctrl-C on the terminal
// reaches us only and we end things in order. An attached child is killed by the
// kernel when we die, however we die.
func attributes(detached bool) *syscall.SysProcAttr {
	if detached {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// birth is the start time of a process in clock ticks since boot, and empty for
// one that is gone or only waits to be reaped.
func birth(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the command in parentheses and may itself hold spaces.
	_, rest, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')'):]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19]
}

//go:build unix && !linux

package controlplane

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// attributes put a child into a group of its own. Only Linux can also tie its
// life to ours: elsewhere a killed test leaves it behind.
func attributes(detached bool) *syscall.SysProcAttr {
	if detached {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

// birth is the start time of a process, and empty for one that is gone.
func birth(pid int) string {
	out, err := exec.Command("ps", "-o", "stat=,lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil || strings.HasPrefix(string(out), "Z") {
		return ""
	}
	_, start, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	return start
}

//go:build !windows

package main

import "syscall"

// detached makes a process leave the terminal and the process group of this one,
// so that neither takes it along.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

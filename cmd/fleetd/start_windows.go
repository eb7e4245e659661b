package main

import "syscall"

// detachedProcess is a process without a console (DETACHED_PROCESS).
const detachedProcess = 0x8

// detached makes a process leave the console and the process group of this one,
// so that neither takes it along.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}

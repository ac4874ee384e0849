// Package proc reads the costs of processes from Linux's /proc: CPU time, resident memory, open files, threads, and
// bytes written, summed over a set of processes and all their descendants. It also finds the process that listens at a
// port.
//
// CPU time is counted in ticks of 10 ms. Without /proc, [Find] returns [ErrNone].
package proc

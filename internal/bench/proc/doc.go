// Package proc reads from Linux's /proc what processes cost: CPU time, resident memory, open files, threads, and bytes written, over
// a set of processes and all below them. It also finds the process that listens at a port.
//
// CPU time is counted in ticks of 10 ms. Where there is no /proc, [Find] says so.
package proc

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"candlemark/internal/bench"
)

// measure measures a broker under load. The first interrupt ends the publishing, the second one the program.
func measure(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	p := &bench.Program{Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr}
	return p.Run(ctx, args)
}

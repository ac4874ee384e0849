package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"candlemark/cmd/candlemark-bench/bench"
)

// main measures a broker under load. The first interrupt ends the publishing, the second one the program.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	p := &bench.Command{Getenv: os.Getenv, Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(p.Run(ctx, os.Args[1:]))
}

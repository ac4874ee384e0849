package main

import (
	"os"
	"testing"

	"candlemark/internal/testkit/sandbox"
)

func TestMain(m *testing.M) { os.Exit(sandbox.Of(m).Run()) }

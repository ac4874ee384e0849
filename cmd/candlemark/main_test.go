package main

import (
	"os"
	"testing"

	"candlemark/integration/testkit/sandbox"
)

func TestMain(m *testing.M) { os.Exit(sandbox.Of(m).Run()) }

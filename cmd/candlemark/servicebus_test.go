package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// TestWrongEntities: a broker with a wrong file of entities, or of definitions, does not start, and leaves nothing in a data folder that was not there
// or was empty; a folder with data stays as it was.
func TestWrongEntities(t *testing.T) {
	entities := func(queues string) string {
		return definitionsFile(t, `{"UserConfig": {"Namespaces": [{"Name": "n", "Queues": [`+queues+`]}]}}`)
	}
	fails := func(dir, file, want string) {
		t.Helper()
		cfg := demoConfig(dir)
		cfg.ServiceBusConfig = file
		if b, err := startBroker(cfg, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
			if err == nil {
				_ = b.stop()
			}
		}
	}
	wrong := map[string]string{
		entities(`{"Name": "q", "Colour": "red"}`):                                    "Colour",
		entities(`{"Name": "q"}, {"Name": "f", "Properties": {"ForwardTo": "none"}}`): "none",
		filepath.Join(t.TempDir(), "nowhere.json"):                                    "servicebus-config: open ",
	}
	for file, want := range wrong {
		missing, empty := filepath.Join(t.TempDir(), "data"), t.TempDir()
		fails(missing, file, want)
		if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", want, err)
		}
		fails(empty, file, want)
		if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", want, left, err)
		}
	}
	used := t.TempDir()
	started(t, used, "", func(string) {})
	before, _ := os.ReadDir(used)
	for file, want := range wrong {
		fails(used, file, want)
	}
	after, _ := os.ReadDir(used)
	if len(before) == 0 || len(after) != len(before) {
		t.Errorf("%v, before %v", after, before)
	}
	fails(t.TempDir(), entities(`{"Name": "q"}`)+"\n", "no such file")
}

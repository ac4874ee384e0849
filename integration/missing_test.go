package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestMissingFiles_DUR2: the journal as a whole, the file that notes its end, or the definitions may be missing, or
// belong to another broker. The check and the next start say so.
func TestMissingFiles_DUR2(t *testing.T) {
	t.Parallel()
	full := func(t *testing.T) string {
		dir := filepath.Join(t.TempDir(), "data")
		b := startIn(t, dir)
		c := b.dial()
		_, err := c.QueueDeclare("q", true, false, false, false, nil)
		c.must(err)
		c.put("", "q", amqp.Publishing{DeliveryMode: 2, Body: []byte("a message")})
		b.kill()
		return dir
	}
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string) error
		want   string
		starts bool
		left   int // messages
	}{
		"nothing":      {func(*testing.T, string) error { return nil }, "no damage found", true, 1},
		"the journal":  {func(_ *testing.T, dir string) error { return os.RemoveAll(filepath.Join(dir, "journal")) }, "the journal that belongs to the definitions is missing", true, 0},
		"its contents": {func(_ *testing.T, dir string) error { return emptied(filepath.Join(dir, "journal")) }, "the journal that belongs to the definitions is missing", true, 0},
		"its progress": {func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, "journal", "progress")) }, "the file is missing; segments and batches that are missing", true, 1},
		"another journal": {func(t *testing.T, dir string) error {
			journal := filepath.Join(dir, "journal")
			startIn(t, filepath.Join(dir, "..", "other")).stop()
			return firstError(os.RemoveAll(journal), os.Rename(filepath.Join(dir, "..", "other", "journal"), journal))
		}, "this is not the journal that belongs to the definitions", true, 0},
		"the definitions": {func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, "definitions.db")) }, "definitions", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := full(t)
			if err := c.damage(t, dir); err != nil {
				t.Fatal(err)
			}
			code, out := tool(t, dir, "journal", "check")
			if (code != 0) != (name != "nothing") || !strings.Contains(out, c.want) {
				t.Errorf("check: %d %s", code, out)
			}
			if !c.starts {
				if code, out := tool(t, dir, "serve", "--amqp", "127.0.0.1:0", "--http", "127.0.0.1:0"); code == 0 || !strings.Contains(out, c.want) {
					t.Errorf("the start said %d %s", code, out)
				}
				return
			}
			b := startIn(t, dir)
			if said := strings.Contains(b.log.String(), c.want); said != (name != "nothing") {
				t.Errorf("the start said %s", b.log.String())
			}
			n := 0
			for range b.dial().taken("q") {
				n++
			}
			if n != c.left {
				t.Errorf("%d messages", n)
			}
			b.stop()
			if code, out := tool(t, dir, "journal", "check"); code != 0 {
				t.Errorf("check after the start: %d %s", code, out)
			}
		})
	}
}

// TestMissingDefinitions_DUR2: without messages the broker starts without the definitions, and says that they are not
// there.
func TestMissingDefinitions_DUR2(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	startIn(t, dir).stop()
	const text = "the definitions that belong to the journal are missing"
	b := startIn(t, dir)
	if strings.Contains(b.log.String(), text) {
		t.Error("they are there")
	}
	b.stop()
	if err := os.Remove(filepath.Join(dir, "definitions.db")); err != nil {
		t.Fatal(err)
	}
	b = startIn(t, dir)
	if !strings.Contains(b.log.String(), text) {
		t.Errorf("the start said %s", b.log.String())
	}
	b.stop()
}

// emptied removes the files in a folder.
func emptied(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = firstError(err, os.Remove(filepath.Join(dir, e.Name())))
	}
	return err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"candlemark/internal/admin/config"

	"github.com/rs/zerolog"
)

// TestFiles imports files as RabbitMQ, its tools, charts and frameworks, and the emulator of Azure Service Bus have them, and compares the
// verdict of each item with the file of the same name that ends in .want: items that are not listed there are taken. CANDLEMARK_REWRITE=1 writes these.
func TestFiles(t *testing.T) {
	const folder = "testdata/files"
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range list {
		name := file.Name()
		if strings.HasSuffix(name, ".want") {
			continue
		}
		n++
		t.Run(name, func(t *testing.T) {
			path, err := filepath.Abs(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			kind, _, _ := strings.Cut(name, "-")
			got := map[string]func(*testing.T, string) string{"definitions": importFile, "conf": checkFile, "Config": declareFile}[kind](t, path)
			got = strings.ReplaceAll(got, path, name)
			if os.Getenv("CANDLEMARK_REWRITE") != "" {
				if err := os.WriteFile(path+".want", []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path + ".want")
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	if n < 30 {
		t.Errorf("%d files", n)
	}
}

// importFile returns the report of a dry run, which an import must give as well, and a line for each queue that exists
// then.
func importFile(t *testing.T, path string) (report string) {
	started(t, t.TempDir(), "", func(address string) {
		url := "http://guest:guest@" + address
		command := []string{"-q", "import_definitions", path}
		if strings.HasSuffix(path, "-vhost.json") {
			command = append(command, "-p", "/") // the export of a virtual host does not name it
		}
		dry, _, code := candlemark(url, append(command, "--dry-run")...)
		report, _, _ = candlemark(url, command...)
		if dry != report {
			t.Errorf("a dry run says\n%s", dry)
		}
		report = fmt.Sprintf("exit %d\n%s", code, report)
		vhosts, _, _ := candlemark(url, "-s", "list_vhosts", "name")
		for vhost := range strings.Lines(vhosts) {
			vhost = strings.TrimSuffix(vhost, "\n")
			queues, _, _ := candlemark(url, "-s", "list_queues", "-p", vhost, "name", "type")
			for queue := range strings.Lines(queues) {
				report += "queue\t" + vhost + "\t" + queue
			}
		}
	})
	return report
}

// checkFile returns the result of a check of settings.
func checkFile(_ *testing.T, path string) string {
	var out strings.Builder
	code := inspectSettings([]string{"check", path}, nil, &out, &out)
	return fmt.Sprintf("exit %d\n%s", code, &out)
}

// declareFile returns the entities of a broker that starts with the file, or the reason that it does not start.
func declareFile(t *testing.T, path string) (entities string) {
	cfg := config.Default(func(string) string { return "" })
	small := demoConfig(t.TempDir())
	cfg.AMQP, cfg.HTTP, cfg.DataDir, cfg.ServiceBusConfig = small.AMQP, small.HTTP, small.DataDir, path
	b, err := startBroker(cfg, zerolog.Nop())
	if err != nil {
		return err.Error() + "\n"
	}
	queues, _, _ := candlemark("http://guest:guest@"+b.HTTP.String(), "-s", "list_queues", "name", "effective_policy_definition")
	if err := b.stop(); err != nil {
		t.Error(err)
	}
	return queues
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"candlemark/internal/admin/config"

	"github.com/rs/zerolog"
)

// The audit log is in the log, or in a file of its own: where the settings say, or in the data folder if the log goes to a terminal.
func TestAuditLogOfItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		set      string // with DIR for the data folder
		terminal bool
		file     string // "" for the log
	}{
		"default":           {file: ""},
		"terminal":          {terminal: true, file: "DIR/audit.log"},
		"log on a terminal": {set: "log", terminal: true},
		"file":              {set: "DIR/changes.jsonl", file: "DIR/changes.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			var out shared
			cfg := demoConfig(t.TempDir())
			cfg.LogFormat, cfg.LogLevel = "json", "error"
			if c.file == "" {
				cfg.LogLevel = "info"
			}
			cfg.AuditLog = strings.Replace(c.set, "DIR", cfg.DataDir, 1)
			cfg = withAuditLog(cfg, c.terminal)
			log, _, err := logger(&out, cfg)
			if err != nil {
				t.Fatal(err)
			}
			b, err := startBroker(cfg, log)
			if err != nil {
				t.Fatal(err)
			}
			if _, stderr, code := candlemark("http://"+b.HTTP.String(), "-q", "set_policy", "p\u202e", "^q", `{"expires":1000000}`); code != 0 {
				t.Error(stderr)
			}
			if err := b.stop(); err != nil {
				t.Error(err)
			}
			inLog, inFile := onRecord(t, out.String()), ""
			if c.file != "" {
				text, err := os.ReadFile(strings.Replace(c.file, "DIR", cfg.DataDir, 1))
				if err != nil {
					t.Fatal(err)
				}
				inFile = string(text)
			}
			lines := append(inLog, onRecord(t, inFile)...)
			if len(lines) == 0 || lines[len(lines)-1].Event != "policy.set" || (len(inLog) > 0) != (c.file == "") || strings.Contains(inFile, "\u202e") {
				t.Errorf("log: %+v, file: %s", inLog, inFile)
			}
		})
	}
}

// The file of the audit log has a maximum size and one predecessor; lines that cannot be written go to the log.
func TestAuditFileIsBounded(t *testing.T) {
	var out bytes.Buffer
	path := filepath.Join(t.TempDir(), "audit.log")
	file := &auditFile{path: path, most: 100, log: zerolog.New(&out)}
	line := []byte(`{"message":"on record","what":{"name":"0123456789"}}` + "\n")
	for range 5 {
		if n, err := file.Write(line); err != nil || n != len(line) {
			t.Error(n, err)
		}
	}
	for _, name := range []string{path, path + ".1"} {
		if text, err := os.ReadFile(name); err != nil || !bytes.Equal(text, line) {
			t.Errorf("%s: %v %s", name, err, text)
		}
	}
	if err := file.close(); err != nil || out.Len() > 0 {
		t.Error(err, out.String())
	}
	file.path = filepath.Join(path, "below a file")
	if _, err := file.Write(line); err != nil || !strings.Contains(out.String(), `"level":"error"`) || !strings.Contains(out.String(), `"line":{"message":"on record"`) {
		t.Error(err, out.String())
	}
}

// On a terminal the time and the level of a line are coloured, and nothing that a client can send is.
func TestColouredLog(t *testing.T) {
	var out bytes.Buffer
	log, _, err := logger(&out, config.Config{LogFormat: "console", LogLevel: "info"})
	if err != nil {
		t.Fatal(err)
	}
	log.Warn().Str("name", hostileText).Msg(hostileText)
	plain := out.String()
	if strings.Contains(plain, "\x1b") {
		t.Error("a log that does not go to a terminal is coloured")
	}
	out.Reset()
	log = zerolog.New(zerolog.ConsoleWriter{Out: printable{coloured{&out}}, NoColor: true, TimeFormat: zerolog.TimeFieldFormat}).With().Timestamp().Logger()
	log.Warn().Str("name", hostileText).Msg(hostileText)
	at, rest, _ := strings.Cut(out.String(), " ")
	level, rest, _ := strings.Cut(rest, " ")
	if !strings.HasPrefix(at, "\x1b[90m20") || !strings.HasSuffix(at, "\x1b[0m") || level != "\x1b[33mWRN\x1b[0m" || !strings.HasSuffix(plain, " WRN "+rest) {
		t.Errorf("%q", out.String())
	}
	log.Log().Msg("")
	if onTerminal(&out) {
		t.Error("a buffer is no terminal")
	}
}

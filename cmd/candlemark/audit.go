package main

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"

	"candlemark/internal/admin/config"

	"github.com/rs/zerolog"
)

// maxAuditFile is the maximum size of the file of the audit log in bytes. The full file replaces the older one, which has
// the name of the file followed by .1.
const maxAuditFile = 64 << 20

// withAuditLog returns the settings with the place of the audit log, if they name none: the log, or, if the log goes to
// a terminal, a file in the data folder.
func withAuditLog(cfg config.Config, terminal bool) config.Config {
	if cfg.AuditLog == "" {
		cfg.AuditLog = "log"
		if terminal && !cfg.InMemory {
			cfg.AuditLog = filepath.Join(cfg.DataDir, "audit.log")
		}
	}
	return cfg
}

// auditLog returns the logger of the audit log and a function that closes its file. In a file the audit log has the
// lines of changes at any level of the log.
func auditLog(cfg config.Config, log zerolog.Logger) (zerolog.Logger, func() error) {
	if cfg.AuditLog == "" || cfg.AuditLog == "log" {
		return log, func() error { return nil }
	}
	file := &auditFile{path: cfg.AuditLog, most: maxAuditFile, log: log}
	return zerolog.New(discreet{printable{file}}).Level(zerolog.TraceLevel).Sample(auditLevel{processLevel}).With().Timestamp().Logger(), file.close
}

// auditLevel lets lines of the level info pass, and others by the level of the log.
type auditLevel struct{ log *logLevel }

// Sample implements zerolog.Sampler.
func (a auditLevel) Sample(of zerolog.Level) bool { return of >= zerolog.InfoLevel || a.log.Sample(of) }

// auditFile is a file of lines, opened for the first one. Lines that cannot be written go to the log. Safe for
// concurrent use.
type auditFile struct {
	path string
	most int64
	log  zerolog.Logger

	mu   sync.Mutex
	file *os.File // nil while it is not open
	size int64
}

// Write implements io.Writer; each line is one call.
func (a *auditFile) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.add(line); err != nil {
		a.log.Error().Err(err).RawJSON("line", bytes.TrimSpace(line)).Msg("the audit log cannot be written")
	}
	return len(line), nil
}

func (a *auditFile) add(line []byte) error {
	if a.file == nil {
		if err := a.open(); err != nil {
			return err
		}
	}
	if a.size > 0 && a.size+int64(len(line)) > a.most {
		if err := a.replace(); err != nil {
			return err
		}
	}
	n, err := a.file.Write(line)
	a.size += int64(n)
	return err
}

func (a *auditFile) open() error {
	file, err := os.OpenFile(a.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return err
	}
	a.file, a.size = file, info.Size()
	return nil
}

// replace begins a new file.
func (a *auditFile) replace() error {
	err := a.file.Close()
	if a.file = nil; err != nil {
		return err
	}
	if err := os.Rename(a.path, a.path+".1"); err != nil {
		return err
	}
	return a.open()
}

func (a *auditFile) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}

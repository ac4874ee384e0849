package node

import (
	"errors"
	"net/http"
	"time"

	"candlemark/internal/admin/httpapi/rest"
	"candlemark/internal/admin/management"
	"candlemark/protocol"
)

// backupItem is the form of a backup.
type backupItem struct {
	State      string `json:"state"`
	Node       string `json:"node"`
	Path       string `json:"path,omitempty"`
	TakenAt    string `json:"taken_at,omitempty"`
	EndedAt    string `json:"ended_at,omitempty"`
	Bytes      int64  `json:"bytes_copied"`
	BytesTotal int64  `json:"bytes_total"`
	Messages   int    `json:"messages"`
	Error      string `json:"error,omitempty"`
}

func backupForm(r *rest.Request, b management.Backup) backupItem {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	return backupItem{b.State, r.Node, b.Folder, at(b.Taken), at(b.Ended), b.Bytes, b.All, b.Messages, b.Failure}
}

// startBackup takes {"path": "/folder"} and answers once the snapshot is taken; copying continues.
func startBackup(r *rest.Request) (any, error) {
	b := r.JSON("path")
	path := b.Text("path")
	if b.Err != nil {
		return nil, b.Err
	}
	begun, err := r.Broker.StartBackup(r.Context(), path)
	switch {
	case errors.Is(err, management.ErrBackupFolder):
		return nil, rest.Complaint(err.Error())
	case errors.Is(err, management.ErrBackupRunning), errors.Is(err, management.ErrBackupOfOthers), errors.Is(err, management.ErrNothingOnDisk):
		return nil, rest.Refuse(http.StatusConflict, "conflict", err.Error())
	}
	if err == nil {
		r.Record("backup.started", "", protocol.Table{{Key: "path", Value: path}}, nil)
	}
	return backupForm(r, begun), err
}

func shownBackup(r *rest.Request) (any, error) { return backupForm(r, r.Broker.Backup()), nil }

func cancelBackup(r *rest.Request) (found bool, err error) {
	if found = r.Broker.CancelBackup(); found {
		r.Record("backup.cancelled", "", protocol.Table{}, nil)
	}
	return found, nil
}

package commandline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var backupVerbs = []verb.Row{
	{
		Name: "backup", Arguments: "<folder>", Options: "no-table-headers",
		About: "Backs up definitions and messages to a folder on the broker's machine, which must be empty or missing",
		Title: verb.Text("Backing up {broker} to {folder} ..."), Run: takeBackup,
	},
	{
		Name: "backup_status", About: "Shows the progress of the running backup, or the result of the last one", Options: "no-table-headers",
		Title: verb.Text("Asking {broker} about its backup ..."), Run: verb.Rows(lastBackup).Table(backupColumns...),
	},
	{
		Name: "cancel_backup", About: "Cancels the running backup and removes its files",
		Title: verb.Text("Cancelling the backup of {broker} ..."), Run: verb.Deletes("x", "backup").IfMissing(verb.Complaint("no backup is running")),
	},
}

var backupColumns = []string{"state", "path", "taken_at", "messages", "bytes_copied", "bytes_total", "error"}

func lastBackup(ctx context.Context, broker *client.Client, _ *verb.Call) ([]client.Object, error) {
	now, err := broker.Get(ctx, "x", "backup")
	return []client.Object{now}, err
}

// withoutLeader is for how long the nodes of a cluster may need to elect another leader.
const withoutLeader = 30 * time.Second

// isAbsent reports whether there may be a leader again soon.
func isAbsent(err error) bool {
	var refused *client.Error
	return !errors.As(err, &refused) || refused.Status == http.StatusServiceUnavailable
}

// isBackup reports whether a state is about the backup that has begun. Another leader, or the same node in another process, knows nothing of it.
func isBackup(now, begun client.Object) bool {
	return now["node"] == begun["node"] && now["path"] == begun["path"] && now["taken_at"] == begun["taken_at"]
}

// takeBackup begins one and waits until it has ended, however long that takes.
func takeBackup(ctx context.Context, broker *client.Client, c *verb.Call) error {
	begun, err := broker.StartBackup(ctx, c.Arguments[0])
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	now, answered := begun, time.Now()
	for err == nil && now["state"] == "running" && isBackup(now, begun) {
		<-again.C
		next, failed := broker.Get(context.WithoutCancel(ctx), "x", "backup")
		switch {
		case failed == nil:
			now, answered = next, time.Now()
		case time.Since(answered) > withoutLeader || !isAbsent(failed):
			err = failed
		}
	}
	if err != nil {
		return err
	}
	if !isBackup(now, begun) {
		return verb.Complaint(fmt.Sprintf("no backup was made: the broker on %s, which took it, has ended; %s leads now. On the former one the folder %s is missing, or it is incomplete and restore refuses it. Take another backup",
			verb.Cell(begun["node"]), verb.Cell(now["node"]), c.Arguments[0]))
	}
	if err := c.PrintTable(backupColumns, []client.Object{now}); err != nil || now["error"] == nil && now["state"] != "cancelled" {
		return err
	}
	return verb.Complaint("no backup was made: its state is " + verb.Cell(now["state"]))
}

package commandline

import (
	"context"
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

// takeBackup begins one and waits until it has ended, however long that takes.
func takeBackup(ctx context.Context, broker *client.Client, c *verb.Call) error {
	now, err := broker.StartBackup(ctx, c.Arguments[0])
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	for err == nil && now["state"] == "running" {
		<-again.C
		now, err = broker.Get(context.WithoutCancel(ctx), "x", "backup")
	}
	if err != nil {
		return err
	}
	if err := c.PrintTable(backupColumns, []client.Object{now}); err != nil || now["error"] == nil && now["state"] != "cancelled" {
		return err
	}
	return verb.Complaint("no backup was made: its state is " + verb.Cell(now["state"]))
}

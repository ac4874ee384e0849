package commandline

import (
	"context"
	"time"

	"candlemark/internal/httpapi/client"
)

var backupVerbs = []verb{
	{
		name: "backup", arguments: "<folder>", options: "no-table-headers",
		about: "Copies definitions and messages of this moment to a folder of the broker's machine, which must be empty or not there",
		title: text("Backing up {broker} to {folder} ..."), run: takeBackup,
	},
	{
		name: "backup_status", about: "Shows how far the backup is that runs, or what became of the last one", options: "no-table-headers",
		title: text("Asking {broker} about its backup ..."), run: rows(lastBackup).table(backupColumns...),
	},
	{
		name: "cancel_backup", about: "Ends the backup that runs, and removes its files",
		title: text("Cancelling the backup of {broker} ..."), run: deletes("x", "backup").ifMissing(complaint("no backup is running")),
	},
}

var backupColumns = []string{"state", "path", "taken_at", "messages", "bytes_copied", "bytes_total", "error"}

func lastBackup(ctx context.Context, broker *client.Client, _ *call) ([]client.Object, error) {
	now, err := broker.Get(ctx, "x", "backup")
	return []client.Object{now}, err
}

// takeBackup begins one and waits until it has ended, however long that takes.
func takeBackup(ctx context.Context, broker *client.Client, c *call) error {
	now, err := broker.StartBackup(ctx, c.arguments[0])
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	for err == nil && now["state"] == "running" {
		<-again.C
		now, err = broker.Get(context.WithoutCancel(ctx), "x", "backup")
	}
	if err != nil {
		return err
	}
	if err := c.printTable(backupColumns, []client.Object{now}); err != nil || now["error"] == nil && now["state"] != "cancelled" {
		return err
	}
	return complaint("there is no backup: it has " + cell(now["state"]))
}

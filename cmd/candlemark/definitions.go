package main

import (
	"context"
	"fmt"
	"os"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/httpapi/definitionfile"
	"candlemark/internal/admin/httpapi/definitionfile/document"
	"candlemark/internal/measure/events"

	"github.com/rs/zerolog"
)

// loadDefinitions imports a file at the start, all of it or nothing (DEF-7); "" for no file. A broker without users,
// because an earlier import failed when it was new, gets the users of a new broker.
func (b *broker) loadDefinitions(cfg config.Config, log zerolog.Logger) error {
	file := cfg.LoadDefinitions
	ctx := events.WithOrigin(context.Background(), &events.Origin{Source: file, Interface: events.Settings})
	if file == "" {
		if len(b.users.Accounts())+len(b.users.VHosts()) > 0 {
			return nil
		}
		return b.found(ctx, auth.Founder(cfg.First), cfg.DefaultQueueType)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("load-definitions: %w", err)
	}
	plan, err := definitionfile.Judge(ctx, b.node.API(), b.users, text, "")
	if err == nil {
		err = definitionfile.Failure(plan)
	}
	if err == nil {
		if err = definitionfile.Carry(ctx, b.node.API(), b.users, auth.User{}, plan); err == nil {
			err = definitionfile.Failure(plan)
		}
	}
	if err != nil {
		return fmt.Errorf("load-definitions: %s: %w", file, err)
	}
	for _, warning := range plan.Warnings {
		log.Warn().Str("file", file).Msg("definitions: " + warning)
	}
	for i := range plan.Items {
		item := &plan.Items[i]
		for _, note := range item.Notes {
			if note.Verdict != document.Taken {
				log.Warn().Str("section", item.Section).Str("vhost", item.VHost).Str("name", item.Name).
					Str("verdict", string(note.Verdict)).Msg("definitions: " + note.Text)
			}
		}
	}
	return nil
}

// found creates the users and virtual host of a new broker.
func (b *broker) found(ctx context.Context, by auth.Founder, defaultQueueType string) error {
	first := auth.NewUsers(auth.Options{DefaultQueueType: defaultQueueType})
	if err := first.Found(by); err != nil {
		return err
	}
	fresh := first.Stored()
	for _, v := range fresh.VHosts {
		if _, err := b.node.API().PutVHost(ctx, v); err != nil {
			return err
		}
	}
	users := b.users.By(events.OriginOf(ctx))
	for _, a := range fresh.Accounts {
		if _, err := users.PutAccount(a); err != nil {
			return err
		}
	}
	for _, g := range fresh.Grants {
		if _, err := users.PutGrant(g); err != nil {
			return err
		}
	}
	return nil
}

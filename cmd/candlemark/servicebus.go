package main

import (
	"context"
	"fmt"
	"os"

	"candlemark/internal/access/auth"
	"candlemark/internal/access/sas"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/configfile"
	entities "candlemark/internal/admin/entityadmin"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/measure/events"
	"candlemark/internal/transport/forward"

	"github.com/rs/zerolog"
)

// rootKey is the name of the access key of Azure Service Bus's emulator. With servicebus-emulator any token counts as
// its user's.
const rootKey = "RootManageSharedAccessKey"

// serviceBusSockets is the maximum number of connections of the administration API.
const serviceBusSockets = 64

// serveServiceBus serves the administration API of Azure Service Bus, for the first virtual host of a new broker.
func (b *broker) serveServiceBus(cfg config.Config, log zerolog.Logger) (err error) {
	if cfg.ServiceBusHTTP == "" && cfg.ServiceBusHTTPS == "" {
		return nil
	}
	premium := cfg.ServiceBusMessage > config.StandardMessage
	server := httpapi.NewServiceBusServer(b.node.API(), b.users, sitesOf(cfg, b.node.API()), cfg.First.VHost, premium, serviceBusSockets, log) // with the same limits for both listeners together
	if cfg.ServiceBusHTTP != "" {
		if b.ServiceBus, err = b.listenHTTP(forward.ServiceBus, cfg.ServiceBusHTTP, nil, server, log); err != nil {
			return err
		}
	}
	if cfg.ServiceBusHTTPS != "" {
		source, err := b.certificateFor(cfg.WebCertificate(), log)
		if err != nil {
			return err
		}
		b.ServiceBusTLS, err = b.listenHTTP(forward.ServiceBusTLS, cfg.ServiceBusHTTPS, source.Config(), server, log)
		return err
	}
	return nil
}

// loadEntities applies the settings for Azure Service Bus, in the first virtual host of a new broker.
func (b *broker) loadEntities(cfg config.Config, log zerolog.Logger) (err error) {
	vhost := cfg.First.VHost
	ctx := events.WithOrigin(context.Background(), &events.Origin{Source: cfg.ServiceBusConfig, Interface: events.Settings})
	if cfg.ServiceBusEmulator {
		if err := b.emulate(ctx, vhost); err != nil {
			return fmt.Errorf("servicebus-emulator: %w", err)
		}
		log.Warn().Msg("servicebus-emulator: any token from this machine has all rights")
	}
	if file := cfg.ServiceBusConfig; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("servicebus-config: %w", err)
		}
		all, err := configfile.Parse(text)
		if err == nil {
			report := func(r entities.Replaced) { log.Warn().Str("file", file).Msg(r.String()) }
			err = configfile.Apply(ctx, &entities.Manager{Broker: b.node.API(), VHost: vhost, Report: report}, all)
		}
		if err != nil {
			return fmt.Errorf("servicebus-config: %s: %w", file, err)
		}
		log.Info().Str("file", file).Int("entities", len(all)).Msg("entities of Azure Service Bus declared")
	}
	return nil
}

// emulate makes any token from this machine valid as a token of an access key with all rights; a missing key is created
// with random values.
func (b *broker) emulate(ctx context.Context, vhost string) error {
	users := b.users.By(events.OriginOf(ctx))
	if _, there := users.Account(rootKey); !there {
		if _, err := users.PutAccount(auth.Account{Name: rootKey, Keys: sas.NewKeys()}); err != nil {
			return err
		}
		if _, err := users.PutGrant(auth.Grant{User: rootKey, VHost: vhost, Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
			return err
		}
	}
	users.AnyToken(rootKey)
	return nil
}

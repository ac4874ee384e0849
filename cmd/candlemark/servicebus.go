package main

import (
	"context"
	"fmt"
	"os"

	"candlemark/internal/auth"
	"candlemark/internal/config"
	"candlemark/internal/events"
	"candlemark/internal/httpapi"
	entities "candlemark/internal/servicebus/admin"
	"candlemark/internal/servicebus/configfile"
	"candlemark/internal/servicebus/sas"

	"github.com/rs/zerolog"
)

// rootKey is the access key that the emulator of Azure Service Bus has, and whose user any token is with servicebus-emulator.
const rootKey = "RootManageSharedAccessKey"

// serviceBusSockets is how many connections its administration API may have at a time.
const serviceBusSockets = 64

// serviceBusListener names its listener.
const serviceBusListener = "http/servicebus"

// serveServiceBus does what settings say about Azure Service Bus, in the virtual host that a new broker begins with.
func (b *broker) serveServiceBus(cfg config.Config, log zerolog.Logger) (err error) {
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
			err = configfile.Apply(ctx, &entities.Manager{Broker: b.node, VHost: vhost}, all)
		}
		if err != nil {
			return fmt.Errorf("servicebus-config: %s: %w", file, err)
		}
		log.Info().Str("file", file).Int("entities", len(all)).Msg("entities of Azure Service Bus are there")
	}
	if cfg.ServiceBusHTTP != "" {
		server := httpapi.NewServiceBusServer(b.node, b.users, vhost, serviceBusSockets, log)
		b.ServiceBus, err = b.listenHTTP(serviceBusListener, cfg.ServiceBusHTTP, nil, server, log)
	}
	return err
}

// emulate has any token from this machine be that of an access key that may do everything, and is made with random keys if it is not there.
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

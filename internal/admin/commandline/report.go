package commandline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"candlemark/internal/admin/commandline/verb"
	"candlemark/internal/admin/httpapi/client"
)

var reportVerbs = []verb.Row{
	{
		Name: "report", About: "Shows the output of status, cluster_status, environment and all list commands", Options: "no-table-headers",
		Title: verb.Text("Reporting server status of node {broker} ..."), Run: reportAll,
	},
	{
		Name: "check_certificate_expiration", About: "Fails if the certificate of a listener expires within a given time", Options: "within unit",
		Title: verb.Text("Checking certificate expiration on node {broker} ..."), Run: checkCertificates,
	},
	{
		Name: "federation_status", About: "Lists federation upstreams; none is running: federation is not supported", Options: "only-down no-table-headers",
		Title: func(c *verb.Call) string {
			if c.Given("only-down") {
				return c.Expand("Listing federation links which are down on node {broker}...")
			}
			return c.Expand("Listing federation links on node {broker}...")
		},
		Run: federationStatus,
	},
}

// The sections of a report about the broker and about each virtual host.
const (
	reported        = "status cluster_status environment list_connections list_channels list_global_parameters"
	reportedOfVHost = "list_queues list_exchanges list_bindings list_permissions list_policies list_operator_policies list_parameters"
)

// reportAll does what other verbs do, with all columns of lists.
func reportAll(ctx context.Context, broker *client.Client, c *verb.Call) error {
	if c.Formatter != "table" {
		return verb.Misuse("Only report formatter is supported")
	}
	rows := slices.Concat(statusVerbs, nodeVerbs, listVerbs, permissionVerbs, policyVerbs, parameterVerbs)
	show := func(vhost, names string) error {
		for name := range strings.FieldsSeq(names) {
			row := &rows[slices.IndexFunc(rows, func(v verb.Row) bool { return v.Name == name })]
			options := *c.Options
			options.VHost = vhost
			part := verb.NewCall(row, &options, c.Broker, strings.Fields(row.Columns))
			part.Out, part.Err = c.Out, c.Err
			c.Say("\n%s\n", row.Title(part))
			if err := row.Run(ctx, broker, part); err != nil {
				return err
			}
		}
		return nil
	}
	if err := show(c.VHost, reported); err != nil {
		return err
	}
	vhosts, err := broker.List(ctx, "vhosts")
	for i := 0; i < len(vhosts) && err == nil; i++ {
		err = show(verb.Cell(vhosts[i]["name"]), reportedOfVHost)
	}
	return err
}

// checkCertificates fails with a line for each listener whose certificate ends.
func checkCertificates(ctx context.Context, broker *client.Client, c *verb.Call) error {
	unit := c.Unit
	_, err := broker.Get(ctx, "health", "checks", "certificate-expiration", strconv.Itoa(c.Within), unit)
	var refused *client.Error
	switch isRefusal := errors.As(err, &refused); {
	case isRefusal && refused.Status == http.StatusServiceUnavailable:
		if c.JSON {
			return verb.FailedCheck(refused.Body)
		}
		return verb.FailedCheck(expiring(refused.Body))
	case err != nil:
		return err
	case c.JSON:
		return json.NewEncoder(c.Out).Encode(map[string]string{"result": "ok"})
	}
	if c.Within == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	c.Say("No certificates are expiring within %d %s.", c.Within, unit)
	return nil
}

// expiring names the listeners in an answer of the API, each on a line.
func expiring(answer string) string {
	var reply struct{ Expired []client.Object }
	if err := json.Unmarshal([]byte(answer), &reply); err != nil {
		return answer
	}
	lines := make([]string, len(reply.Expired))
	for i, l := range reply.Expired {
		lines[i] = fmt.Sprintf("Interface: %s, port: %s, protocol: %s, certificate expires on: %s", verb.Cell(l["interface"]), verb.Cell(l["port"]), verb.Cell(l["protocol"]), verb.Cell(l["certfile_expires_on"]))
	}
	return strings.Join(lines, "\n")
}

// federationStatus lists the upstreams, none of which is running.
func federationStatus(ctx context.Context, broker *client.Client, c *verb.Call) error {
	links, err := broker.List(ctx, "federation-links")
	if err != nil {
		return err
	}
	if len(links) > 0 || c.JSON {
		return c.PrintTable(strings.Fields("node vhost upstream status error"), links)
	}
	if c.Formatter == "table" && !c.Silent {
		c.Say("Federation is not supported here; there are no upstreams")
	}
	return nil
}

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// own are the verbs that have no counterpart in rabbitmqctl; they get what
// stands behind them and return the exit code.
var own = map[string]func(args []string) int{
	"serve":   serve,
	"demo":    demo,
	"journal": journal,
}

// verbs are those of rabbitmqctl.
var verbs = map[string]verb{
	"set_policy":             setPolicyVerb(false),
	"clear_policy":           clearPolicyVerb(false),
	"list_policies":          listPoliciesVerb(false),
	"set_operator_policy":    setPolicyVerb(true),
	"clear_operator_policy":  clearPolicyVerb(true),
	"list_operator_policies": listPoliciesVerb(true),

	"add_user":                    addUserVerb,
	"delete_user":                 deleteUserVerb,
	"change_password":             changePasswordVerb,
	"authenticate_user":           authenticateUserVerb,
	"set_user_tags":               setUserTagsVerb,
	"list_users":                  listUsersVerb,
	"set_permissions":             setPermissionsVerb,
	"clear_permissions":           clearPermissionsVerb,
	"list_permissions":            listPermissionsVerb,
	"list_user_permissions":       listUserPermissionsVerb,
	"set_topic_permissions":       setTopicPermissionsVerb,
	"clear_topic_permissions":     clearTopicPermissionsVerb,
	"list_topic_permissions":      listTopicPermissionsVerb,
	"list_user_topic_permissions": listUserTopicPermissionsVerb,
	"add_vhost":                   addVHostVerb,
	"delete_vhost":                deleteVHostVerb,
	"list_vhosts":                 listVHostsVerb,
	"set_vhost_limits":            setVHostLimitsVerb,
	"clear_vhost_limits":          clearVHostLimitsVerb,
	"list_vhost_limits":           listVHostLimitsVerb,
	"set_user_limits":             setUserLimitsVerb,
	"clear_user_limits":           clearUserLimitsVerb,
	"list_user_limits":            listUserLimitsVerb,

	"list_queues":           listQueuesVerb,
	"list_exchanges":        listExchangesVerb,
	"list_bindings":         listBindingsVerb,
	"list_connections":      listConnectionsVerb,
	"list_channels":         listChannelsVerb,
	"list_consumers":        listConsumersVerb,
	"delete_queue":          deleteQueueVerb,
	"purge_queue":           purgeQueueVerb,
	"peek":                  peekVerb,
	"list_unacked":          listUnackedVerb,
	"renew_lock":            renewLockVerb,
	"list_scheduled":        listScheduledVerb,
	"count_scheduled":       countScheduledVerb,
	"cancel_scheduled":      cancelScheduledVerb,
	"reschedule":            rescheduleVerb,
	"close_connection":      closeConnectionVerb,
	"close_all_connections": closeAllConnectionsVerb,
	"trace_on":              traceVerb(true),
	"trace_off":             traceVerb(false),
	"status":                statusVerb,
	"ping":                  pingVerb,
	"check_running":         checkRunningVerb,

	"set_vm_memory_high_watermark": setWatermarkVerb,
	"set_disk_free_limit":          setDiskLimitVerb,
	"alarms":                       alarmsVerb("known", "alarms, local or clusterwide", false, true),
	"check_alarms":                 alarmsVerb("local", "alarms, local or clusterwide", true, true),
	"check_local_alarms":           alarmsVerb("local", "local alarms", true, false),
}

// tools are names of RabbitMQ's that the program may be called by; then it has
// only the verbs.
var tools = []string{"rabbitmqctl", "rabbitmq-diagnostics"}

func main() { os.Exit(called(os.Args, os.Getenv, os.Stdout, os.Stderr)) }

// called is run for the name that the program was called by.
func called(argv []string, getenv func(string) string, stdout, stderr io.Writer) int {
	if name := strings.TrimSuffix(filepath.Base(argv[0]), ".exe"); slices.Contains(tools, name) {
		return control(argv[1:], getenv, stdout, stderr)
	}
	return run(argv[1:], getenv, stdout, stderr)
}

// run is the whole command line; it returns the exit code.
func run(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		printUsage(stderr)
		return exitUsage
	}
	if verb := own[args[0]]; verb != nil {
		return verb(args[1:])
	}
	switch args[0] {
	case "help", "-h", "--help":
		printUsage(stdout)
		return 0
	case "version", "--version":
		fmt.Fprintln(stdout, version)
		return 0
	}
	return control(args, getenv, stdout, stderr)
}

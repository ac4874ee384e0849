package offline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"candlemark/internal/admin/commandline"
	"candlemark/internal/admin/config"
	"candlemark/internal/admin/flaghelp"
	"candlemark/internal/storage/cluster/forced"
	"candlemark/internal/storage/definitions"
	"candlemark/internal/storage/store/vfs"
)

// Command lines of the verbs about the folder of a node that is stopped.
const (
	ForgetUsage = "candlemark forget_cluster_node --offline <node> [--data-dir <folder>]"
	ResetUsage  = "candlemark force_reset [--data-dir <folder>]"
)

const forgetHelp = ForgetUsage + "\n\n" +
	"Removes another node from the cluster of a stopped node, without asking anyone: for when a majority of the nodes is\n" +
	"lost for ever. Run it once for each lost node, and on all nodes that are left.\n\n"

const resetHelp = ResetUsage + "\n\n" +
	"Removes all data of a stopped node of a cluster. Started again, it is a new node, which joins those of its settings.\n\n"

// Member carries out a command to the folder of a stopped node of a cluster, if the arguments are one, and returns the exit code (CLU-31).
func (t *Tool) Member(args []string) (code int, is bool) {
	switch {
	case len(args) > 0 && args[0] == "forget_cluster_node" && slices.Contains(args, "--offline"):
		return t.Forget(args[1:]), true
	case len(args) > 0 && args[0] == "force_reset":
		return t.ForceReset(args[1:]), true
	}
	return 0, false
}

// Forget removes members from the log of a stopped node, and returns the exit code (CLU-31).
func (t *Tool) Forget(args []string) int {
	nodes, dir, code := t.parse("forget_cluster_node", forgetHelp, args)
	if code != 0 || nodes == nil {
		return code
	}
	if len(nodes) != 1 {
		fmt.Fprintln(t.Stderr, ForgetUsage)
		return commandline.ExitUsage
	}
	f, err := forced.Forget(vfs.OS, dir, nodes[0])
	if err != nil {
		fmt.Fprintln(t.Stderr, "candlemark forget_cluster_node:", stopFirst(err))
		return commandline.ExitSoftware
	}
	fmt.Fprintf(t.Stdout, "%s is removed from the data of %s; its cluster has %s now. Its log ended at entry %d.\n", nodes[0], f.Node, strings.Join(f.Left, ", "), f.Last)
	fmt.Fprintln(t.Stderr, "Warning: what only the removed node has is lost. If it starts with its data again, it is no part of this cluster, and with others it may serve clients beside it:\n"+
		"remove its data folder first. Run this on all nodes that are left, for all that are lost; the one with the last entry leads. A node that lacks it loses nothing by being emptied (force_reset).")
	return 0
}

// ForceReset removes the data of a stopped node, and returns the exit code (CLU-31).
func (t *Tool) ForceReset(args []string) int {
	nodes, dir, code := t.parse("force_reset", resetHelp, args)
	if code != 0 || nodes == nil {
		return code
	}
	if len(nodes) > 0 {
		fmt.Fprintln(t.Stderr, ResetUsage)
		return commandline.ExitUsage
	}
	err := forced.Reset(vfs.OS, dir)
	if errors.Is(err, definitions.ErrSingle) {
		err = fmt.Errorf("%w: remove the folder %s instead", err, dir)
	}
	if err != nil {
		fmt.Fprintln(t.Stderr, "candlemark force_reset:", stopFirst(err))
		return commandline.ExitSoftware
	}
	fmt.Fprintf(t.Stdout, "The data of the node in %s are removed. Its cluster replaces it when it starts again; forget_cluster_node removes it for good.\n", dir)
	return 0
}

// parse returns the arguments that are no options, and the data folder; nil if the command ends with a code.
func (t *Tool) parse(verb, help string, args []string) (nodes []string, dir string, code int) {
	flags := flaghelp.New("candlemark " + verb)
	flags.StringVar(&dir, "data-dir", config.DataDir(t.Getenv), "data `folder` of the node")
	flags.Bool("offline", true, "the node is stopped")
	nodes = []string{}
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return nil, "", flaghelp.Exit(err, flags, help, t.Stdout, t.Stderr)
		}
		if args = flags.Args(); len(args) > 0 { // options may follow it
			nodes, args = append(nodes, args[0]), args[1:]
		}
	}
	return nodes, dir, 0
}

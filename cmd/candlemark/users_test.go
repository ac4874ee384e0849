package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"candlemark/internal/access/auth"
	"candlemark/internal/admin/commandline"
	"candlemark/internal/admin/httpapi"
	"candlemark/internal/admin/management"
	"candlemark/internal/measure/clock"
	"candlemark/internal/measure/events"
	"candlemark/internal/transport/budget"

	"github.com/rs/zerolog"
)

// keeper is a broker that supports only users and virtual hosts.
type keeper struct {
	management.Broker
	*auth.Users
}

func (k *keeper) Unread() *budget.Unread { return nil }

func (k *keeper) NodeName() string { return "candlemark@localhost" }

func (k *keeper) Events() *events.Hub { return nil }

func (k *keeper) Clock() *clock.Clock { return clock.New() }

func (k *keeper) WithTimeout(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(parent, d)
}

func (k *keeper) VHosts(context.Context) (names []string, err error) {
	for _, v := range k.Users.VHosts() {
		names = append(names, v.Name)
	}
	return names, nil
}

// Exchange finds any exchange.
func (k *keeper) Exchange(context.Context, string, string) (*management.Exchange, error) {
	return &management.Exchange{}, nil
}

func (k *keeper) Overview(context.Context) (management.Overview, error) {
	return management.Overview{}, nil
}

func (k *keeper) Queues(context.Context, string) ([]management.Queue, error) { return nil, nil }

func (k *keeper) PutVHost(_ context.Context, v auth.VHost) (bool, error) { return k.Users.PutVHost(v) }

func (k *keeper) DeleteVHost(_ context.Context, name string) (bool, error) {
	err := k.Users.DeleteVHost(name)
	if errors.Is(err, auth.ErrNoVHost) {
		return false, nil
	}
	return err == nil, err
}

func (k *keeper) SchedulesOf(string) int { return 0 }

func (k *keeper) DeleteUser(_ context.Context, name string) (bool, error) {
	return k.DeleteAccount(name) == nil, nil
}

// serveKeeper starts the HTTP API over a keeper and returns its address.
func serveKeeper(t *testing.T) string {
	k := &keeper{Users: auth.NewGuest()}
	s := httptest.NewServer(httpapi.NewHandler(k, k.Users, zerolog.Nop()))
	t.Cleanup(s.Close)
	return s.URL
}

const done = "Done. Don't forget to grant the user permissions to some virtual hosts! See set_permissions in 'candlemark help'.\n"

// answer has a command line, whose words are separated by |, its expected outputs and exit code.
type answer struct {
	line, stdout, complaint string
	code                    int
}

func (a answer) isGiven(t *testing.T, url string) {
	t.Helper()
	stdout, stderr, code := candlemark(url, strings.Split(a.line, "|")...)
	if stdout != a.stdout || stderr != a.complaint || code != a.code {
		t.Errorf("%s: exit %d, want %d\n got %q %q\nwant %q %q", a.line, code, a.code, stdout, stderr, a.stdout, a.complaint)
	}
}

// Runs one sequence of commands: each depends on the state left by the earlier ones. Titles, tables, error messages and
// exit codes are as in rabbitmqctl 3.10 and 4.
func TestUserVerbs(t *testing.T) {
	url := serveKeeper(t)
	hash := "WE97NPrtXbUOiRP5mvwlzaflG3Se4qqIHi6BO7TbLvi8ehVr"
	for _, step := range []answer{
		{"list_users", "Listing users ...\nuser\ttags\nguest\t[administrator]\n", "", 0},
		{"add_user|a|b", "Adding user \"a\" ...\n" + done, "", 0},
		{"add_user|a|b", "Adding user \"a\" ...\n", "Error:\nUser \"a\" already exists\n", 70},
		{"-q|add_user|b|x", "", "", 0},
		{"add_user|-s|h|" + hash + "|--pre-hashed-password", "", "", 0},
		{"-q|add_user|i|!|--pre-hashed-password", "", "Error:\nCould not Base64 decode provided password hash value\n", 65},
		{"-q|add_user||x", "", "Error:\nBad argument: user cannot be an empty string\n", 65},
		{"set_user_tags|a|x|y", "Setting tags for user \"a\" to [x, y] ...\nNote: the tag \"x\" gives no rights; these do: administrator, monitoring, policymaker, management, impersonator\n" +
			"Note: the tag \"y\" gives no rights; these do: administrator, monitoring, policymaker, management, impersonator\n", "", 0},
		{"-q|set_user_tags|nob|x", "", "Error:\nUser \"nob\" does not exist\n", 67},
		{"set_user_tags|b", "Setting tags for user \"b\" to [] ...\n", "", 0},
		{"list_users|-q", "user\ttags\na\t[x, y]\nb\t[]\nguest\t[administrator]\nh\t[]\n", "", 0},
		{"list_users|-q|--no-table-headers", "a\t[x, y]\nb\t[]\nguest\t[administrator]\nh\t[]\n", "", 0},
		{"list_users|--formatter|json", `[{"user":"a","tags":["x","y"]},{"user":"b","tags":[]},{"user":"guest","tags":["administrator"]},{"user":"h","tags":[]}]` + "\n", "", 0},
		{"authenticate_user|a|b", "Authenticating user \"a\" ...\nSuccess\n", "", 0},
		{"-q|authenticate_user|guest|guest", "Success\n", "", 0},
		{"-q|authenticate_user|a|z", "", "Error:\nError: failed to authenticate user \"a\"\nuser 'a' - invalid credentials\n", 65},
		{"-q|authenticate_user|nob|z", "", "Error:\nError: failed to authenticate user \"nob\"\nuser 'nob' - invalid credentials\n", 65},
		{"change_password|a|new", "Changing password for user \"a\" ...\n", "", 0},
		{"-q|authenticate_user|a|new", "Success\n", "", 0},
		{"-q|change_password|nob|x", "", "Error:\nUser \"nob\" does not exist\n", 67},
		{"set_permissions|a|^a|.*|", "Setting permissions for user \"a\" in vhost \"/\" ...\n", "", 0},
		{"-q|set_permissions|nob|.|.|.", "", "Error:\nUser nob does not exist\n", 67},
		{"-q|-p|nov|set_permissions|a|.|.|.", "", "Error:\nVirtual host nov does not exist\n", 69},
		{"-q|set_permissions|a|.|.|(", "", "Error:\n{:invalid_regexp, '(', {'missing )', 1}}\n", 69},
		{"list_permissions", "Listing permissions for vhost \"/\" ...\nuser\tconfigure\twrite\tread\na\t^a\t.*\t\nguest\t.*\t.*\t.*\n", "", 0},
		{"list_permissions|-q|--formatter|json", `[{"user":"a","configure":"^a","write":".*","read":""},{"user":"guest","configure":".*","write":".*","read":".*"}]` + "\n", "", 0},
		{"-q|list_permissions|-p|nov", "", "Virtual host 'nov' does not exist\n", 65},
		{"list_user_permissions|a", "Listing permissions for user \"a\" ...\nvhost\tconfigure\twrite\tread\n/\t^a\t.*\t\n", "", 0},
		{"-q|list_user_permissions|nob", "", "Error:\n{:no_such_user, \"nob\"}\n", 67},
		{"clear_permissions|a", "Clearing permissions for user \"a\" in vhost \"/\" ...\n", "", 0},
		{"-q|clear_permissions|a", "", "", 0},
		{"-q|clear_permissions|nob", "", "Error:\nUser nob does not exist\n", 67},
		{"-q|clear_permissions|-p|nov|a", "", "Error:\nVirtual host nov does not exist\n", 69},
		{"set_topic_permissions|a|amq.topic|^{username}|.*", "Setting topic permissions on \"amq.topic\" for user \"a\" in vhost \"/\" ...\n", "", 0},
		{"-q|set_topic_permissions|a||.|.", "", "", 0},
		{"-q|set_topic_permissions|a|nox|(|.", "", "Error:\n{:invalid_regexp, \"(\", {'missing )', 1}}\n", 69},
		{"list_topic_permissions", "Listing topic permissions for vhost \"/\" ...\nuser\texchange\twrite\tread\na\t\t.\t.\na\tamq.topic\t^{username}\t.*\n", "", 0},
		{"list_user_topic_permissions|a", "Listing topic permissions for user \"a\" ...\n/\t\t.\t.\n/\tamq.topic\t^{username}\t.*\n", "", 0},
		{"clear_topic_permissions|a|", "Clearing topic permissions on \"\" for user \"a\" in vhost \"/\" ...\n", "", 0},
		{"-q|list_user_topic_permissions|a", "/\tamq.topic\t^{username}\t.*\n", "", 0},
		{"clear_topic_permissions|a", "Clearing topic permissions for user \"a\" in vhost \"/\" ...\n", "", 0},
		{"-q|clear_topic_permissions|a", "", "", 0},
		{"delete_user|h", "Deleting user \"h\" ...\n", "", 0},
		{"delete_user|h", "Deleting user \"h\" ...\n", "", 0},
	} {
		step.isGiven(t, url)
	}
}

func TestPasswordsFromInput(t *testing.T) {
	url := serveKeeper(t)
	before := stdin
	defer func() { stdin = before }()
	for _, step := range []struct {
		input, line, stdout, complaint string
		code                           int
	}{
		{"hunter\n", "-q|add_user|pw", "Password: \n", "", 0},
		{"hunter", "authenticate_user|pw", "Authenticating user \"pw\" ...\nPassword: \nSuccess\n", "", 0},
		{"other\r\n", "-q|change_password|pw", "Password: \n", "", 0},
		{"other\n", "-q|authenticate_user|pw", "Password: \nSuccess\n", "", 0},
		{"", "-q|change_password|pw", "Password: \n", "Error:\nPassword is not provided via argument or stdin\n", 70},
		{"", "-q|add_user|x", "Password: \n", "Error:\nPassword is not provided via argument or stdin\n", 65},
		{"!\n", "-q|add_user|x|--pre-hashed-password", "Hashed and salted password: \n", "Error:\nCould not Base64 decode provided password hash value\n", 65},
	} {
		stdin = strings.NewReader(step.input)
		answer{step.line, step.stdout, step.complaint, step.code}.isGiven(t, url)
	}
}

func TestVHostVerbs(t *testing.T) {
	url := serveKeeper(t)
	for _, step := range []answer{
		{"add_vhost|v1", "Adding vhost \"v1\" ...\n", "", 0},
		{"add_vhost|v1|--description|x", "Adding vhost \"v1\" ...\n", "", 0},
		{"-q|add_vhost|v2|--description|d d|--tags|x,y|--default-queue-type|quorum", "", "", 0},
		{"-q|add_vhost|v3|--default-queue-type|odd", "", "Error:\nUnsupported default queue type\n", 64},
		{"list_vhosts", "Listing vhosts ...\nname\n/\nv1\nv2\n", "", 0},
		{
			"-q|list_vhosts|name|description|tags|default_queue_type|tracing",
			"name\tdescription\ttags\tdefault_queue_type\ttracing\n/\tDefault virtual host\t[]\tclassic\tfalse\nv1\t\t[]\tclassic\tfalse\nv2\td d\t[x, y]\tquorum\tfalse\n", "", 0,
		},
		{"-q|list_vhosts|--formatter|json|name|tags", `[{"name":"/","tags":[]},{"name":"v1","tags":[]},{"name":"v2","tags":["x","y"]}]` + "\n", "", 0},
		{"-q|list_permissions|-p|v1", "", "", 0},
		{"-q|enable_vhost_deletion_protection|v1", "", "", 0},
		{"delete_vhost|v1", "Deleting vhost \"v1\" ...\n", "Error:\nCannot delete this virtual host: it is protected from deletion. To lift the protection, inspect and update its metadata\n", 65},
		{"update_vhost_metadata|v1|--description|d", "Updating metadata of vhost \"v1\" ...\n", "", 0},
		{"-q|list_vhosts|name|protected_from_deletion", "name\tprotected_from_deletion\n/\tfalse\nv1\ttrue\nv2\tfalse\n", "", 0},
		{"disable_vhost_deletion_protection|v1", "Removing deletion protection from virtual host \"v1\" by updating its metadata...\n", "", 0},
		{"enable_vhost_deletion_protection|v9", "Protecting virtual host \"v9\" from removal by updating its metadata...\n", "Virtual host 'v9' does not exist\n", 65},
		{"delete_vhost|v1", "Deleting vhost \"v1\" ...\n", "", 0},
		{"delete_vhost|v1", "Deleting vhost \"v1\" ...\n", "Virtual host 'v1' does not exist\n", 65},
	} {
		step.isGiven(t, url)
	}
	for line, complaint := range map[string]string{
		"list_vhosts|foo": "Error (argument validation): Info key(s) foo are not supported\n",
		"add_user":        "Error (argument validation): not enough arguments.\n",
		"add_user|a|b|c":  "Error (argument validation): too many arguments.\n",
		"set_user_tags":   "Error (argument validation): not enough arguments.\n",
	} {
		if _, stderr, code := candlemark(url, strings.Split(line, "|")...); !strings.HasPrefix(stderr, complaint) || code != commandline.ExitUsage {
			t.Errorf("%s: exit %d, %q", line, code, stderr)
		}
	}
	for _, line := range []string{
		"candlemark set_user_tags <username> <tag> [...]",
		"candlemark clear_topic_permissions [-p <vhost>] <username> [<exchange>]",
		"candlemark add_vhost [--description <description>] [--tags <tags>] [--default-queue-type <default-queue-type>] <vhost>",
	} {
		out, _, code := candlemark(url, "help", strings.Fields(line)[1])
		if code != 0 || !slices.Contains(strings.Split(out, "\n"), line) {
			t.Errorf("no %q: exit %d, %q", line, code, out)
		}
	}
}

func (*keeper) ClusterState() management.ClusterState { return management.ClusterState{} }

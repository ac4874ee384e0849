package rabbitmqadmin

import (
	"fmt"
	"io"
	"strings"
)

// help prints the help of options, subcommands or the configuration file.
func (p *Program) help(args []string) error {
	switch strings.Join(args, " ") {
	case "":
		p.heading("Usage")
		fmt.Fprintln(p.Stdout, "  rabbitmqadmin [options] subcommand")
		p.heading("Options")
		for _, o := range options {
			words := "--" + o.long
			if o.argument != "" {
				words += "=" + o.argument
			}
			if o.short != "" {
				words += ", " + strings.TrimSpace("-"+o.short+" "+o.argument)
			}
			fmt.Fprintf(p.Stdout, "  %-36s  %s\n", words, o.about)
		}
		p.heading("More Help")
		fmt.Fprint(p.Stdout, "  rabbitmqadmin help subcommands\n  rabbitmqadmin help config\n")
	case "subcommands":
		p.subcommands()
	case "config":
		p.heading("Configuration File")
		fmt.Fprint(p.Stdout, configuration)
	default:
		return usage("help topic must be one of:\n  subcommands\n  config")
	}
	return nil
}

func (p *Program) heading(text string) {
	fmt.Fprintf(p.Stdout, "\n%s\n%s\n\n", text, strings.Repeat("=", len(text)))
}

const configuration = `  The file given with --config, else ~/.rabbitmqadmin.conf, has sections of settings:

  [default]
  hostname = localhost
  port = 15672
  username = guest
  password = guest
  vhost = /

  [far]
  hostname = broker.example.com
  port = 15671
  ssl = True
  ssl_ca_cert_file = /path/to/ca.pem

  rabbitmqadmin -N far list queues
`

func (p *Program) subcommands() {
	p.heading("Display")
	for _, l := range listable {
		fmt.Fprintf(p.Stdout, "  list %s [<column>...]\n", l.name)
	}
	for _, l := range showable {
		fmt.Fprintf(p.Stdout, "  show %s [<column>...]\n", l.name)
	}
	p.heading("Object Manipulation")
	for _, group := range groups {
		for i := range group.kinds {
			fmt.Fprintf(p.Stdout, "  %s %s\n", group.action, group.kinds[i].usage())
		}
	}
	p.heading("Broker Definitions")
	fmt.Fprint(p.Stdout, "  export <file>\n  import <file>\n")
	p.heading("Publishing and Consuming")
	fmt.Fprintf(p.Stdout, "  %s\n  %s\n\n", publish.usage(), get.usage())
	fmt.Fprint(p.Stdout, "  Without a payload, publish sends the standard input. With a payload_file, get writes the payload of one message there.\n")
}

var groups = []struct {
	action string
	kinds  []kind
}{{"declare", declarable}, {"delete", deletable}, {"close", closable}, {"purge", purgable}}

// completion writes a script for bash.
func (p *Program) completion() {
	out := p.Stdout
	fmt.Fprint(out, "_rabbitmqadmin() {\n\tlocal words\n\tcase ${COMP_WORDS[COMP_CWORD-1]} in\n")
	line := func(word string, words []string) {
		fmt.Fprintf(out, "\t%s) words='%s' ;;\n", word, strings.Join(words, " "))
	}
	var list []string
	for _, l := range listable {
		list = append(list, l.name)
	}
	line("list", list)
	line("show", []string{"overview"})
	for _, group := range groups {
		var kinds []string
		for i := range group.kinds {
			kinds = append(kinds, group.kinds[i].name)
		}
		line(group.action, kinds)
	}
	line("help", []string{"subcommands", "config"})
	line("-f|--format", []string{"raw_json", "pretty_json", "tsv", "long", "table", "kvp", "bash"})
	for _, l := range []string{"vhost", "queue", "exchange"} {
		asked(out, l, l+"s")
	}
	asked(out, "-V|--vhost", "vhosts")
	asked(out, "-u|--username", "users")
	words := []string{"list", "show", "declare", "delete", "close", "purge", "import", "export", "get", "publish", "help"}
	for _, o := range options {
		words = append(words, "--"+o.long)
	}
	line("*", words)
	fmt.Fprint(out, "\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -F _rabbitmqadmin rabbitmqadmin\n")
}

// asked has the shell ask the broker.
func asked(out io.Writer, word, list string) {
	fmt.Fprintf(out, "\t%s) words=\"$(rabbitmqadmin -q -f bash list %s)\" ;;\n", word, list)
}

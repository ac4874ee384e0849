package commandline

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Completion writes a script with which a shell (bash, zsh or fish) completes verbs, their options and columns; own are
// the program's words that are not verbs. It returns false for another shell.
func Completion(out io.Writer, shell string, own ...string) bool {
	switch shell {
	case "zsh":
		fmt.Fprintln(out, "autoload -U +X bashcompinit && bashcompinit")
		bash(out, own)
	case "bash":
		bash(out, own)
	case "fish":
		for i := range verbs {
			fmt.Fprintf(out, "complete -c candlemark -f -n __fish_use_subcommand -a %s -d %s\n", verbs[i].Name, quoted(verbs[i].About))
			fmt.Fprintf(out, "complete -c candlemark -f -n '__fish_seen_subcommand_from %s' -a %s\n", verbs[i].Name, quoted(strings.Join(verbs[i].Words(), " ")))
		}
		fmt.Fprintf(out, "complete -c candlemark -f -n __fish_use_subcommand -a %s\n", quoted(strings.Join(own, " ")))
	default:
		return false
	}
	return true
}

// quoted returns a word for a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func bash(out io.Writer, own []string) {
	names := slices.Clone(own)
	for i := range verbs {
		names = append(names, verbs[i].Name)
	}
	fmt.Fprint(out, "_candlemark() {\n\tlocal words\n\tcase $COMP_CWORD:${COMP_WORDS[1]} in\n")
	fmt.Fprintf(out, "\t1:*) words=%s ;;\n", quoted(strings.Join(names, " ")))
	for i := range verbs {
		fmt.Fprintf(out, "\t*:%s) words=%s ;;\n", verbs[i].Name, quoted(strings.Join(verbs[i].Words(), " ")))
	}
	fmt.Fprint(out, "\tesac\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -F _candlemark candlemark rabbitmqctl rabbitmq-diagnostics rabbitmq-queues rabbitmq-upgrade\n")
}

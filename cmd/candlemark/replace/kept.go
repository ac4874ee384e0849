package replace

import (
	"encoding/json"
	"net"
	"os"
	"slices"

	"candlemark/internal/transport/stream"

	"github.com/rs/zerolog"
)

// keptVariable is the variable in the environment with the listeners that a process keeps when it replaces its program: clients that
// connect meanwhile wait, and are not refused (CLU-20).
const keptVariable = "LISTENERS_CANDLEMARK"

// Kept are listeners of the program that this process had before.
type Kept struct {
	PID       int
	Listeners []keptListener
}

type keptListener struct {
	Kind, Address string
	FD            int
}

// Listeners returns the listeners that this process has kept.
func Listeners(log zerolog.Logger) (k Kept) {
	text := os.Getenv(keptVariable)
	_ = os.Unsetenv(keptVariable)
	if err := json.Unmarshal([]byte(text), &k); text != "" && err != nil {
		log.Warn().Err(err).Str("variable", keptVariable).Msg("the variable in the environment is not understood")
	}
	if k.PID != os.Getpid() {
		return Kept{}
	}
	return k
}

// Listen returns a listener that was kept, or opens one.
func (k *Kept) Listen(kind, address string) (net.Listener, error) {
	for i, l := range k.Listeners {
		if l.Kind == kind && l.Address == address {
			k.Listeners = slices.Delete(k.Listeners, i, i+1)
			return stream.Adopt(os.NewFile(uintptr(l.FD), address))
		}
	}
	return stream.Listen(address)
}

// Close closes the listeners that are not wanted any more.
func (k *Kept) Close() {
	for _, l := range k.Listeners {
		_ = os.NewFile(uintptr(l.FD), l.Address).Close()
	}
	k.Listeners = nil
}

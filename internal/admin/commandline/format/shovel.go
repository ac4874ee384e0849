package format

// ShovelColumns are the columns of a list of shovels, with rabbitmqctl's names.
var ShovelColumns = []string{
	"vhost", "name", "state", "last_changed", "source", "source_queue", "source_exchange", "destination", "destination_queue",
	"destination_exchange", "termination_reason",
}

// shovelKeys are the names over HTTP, where they are others.
var shovelKeys = map[string]string{
	"last_changed": "timestamp", "source": "src_uri", "source_queue": "src_queue", "source_exchange": "src_exchange",
	"destination": "dest_uri", "destination_queue": "dest_queue", "destination_exchange": "dest_exchange", "termination_reason": "reason",
}

// Shovel fills the columns of a shovel.
func Shovel(o map[string]any) {
	for column, key := range shovelKeys {
		if o[column] = o[key]; o[key] == nil {
			o[column] = ""
		}
	}
}

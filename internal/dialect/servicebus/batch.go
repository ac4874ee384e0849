package servicebus

import "candlemark/protocol/amqp10"

// BatchFormat is the message-format of several messages in one, each in a data section.
const BatchFormat = 0x80013700

// MostBatched is how many messages a batch has at most, as in Azure Service Bus.
const MostBatched = 4500

// largestBatch is the size in bytes that clients are told to fill batches to, the same as Azure Service Bus's: far fewer than MostBatched messages of usual sizes.
const largestBatch = 1 << 20

// LargestBatch returns the properties of a link that takes messages of largest bytes at most: the size that clients fill batches to.
func LargestBatch(largest uint64) amqp10.Map {
	return amqp10.Map{{Key: amqp10.Symbol("com.microsoft:max-message-batch-size"), Value: min(largest, largestBatch)}}
}

// Batch takes a message of the BatchFormat apart; the messages alias it. Errors: *amqp10.Error, of what is no message, or has no messages in it
// or too many.
func Batch(encoded []byte) (messages [][]byte, err error) {
	s, err := amqp10.ScanSections(encoded)
	if err != nil {
		return nil, err
	}
	if s.BodyKind != amqp10.SectionData {
		return nil, amqp10.Errorf(amqp10.InvalidField, "a batch without data sections")
	}
	for _, v := range s.BodyValues() {
		if len(messages) == MostBatched {
			return nil, amqp10.Errorf(amqp10.MessageSizeExceeded, "a batch of more than %d messages", MostBatched)
		}
		m, _ := v.Binary()
		messages = append(messages, m)
	}
	return messages, nil
}

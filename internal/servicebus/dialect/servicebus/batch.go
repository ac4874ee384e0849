package servicebus

import "candlemark/protocol/amqp10"

// BatchFormat is the message-format of several messages in one, each in a data section.
const BatchFormat = 0x80013700

// MaxBatchMessages is the maximum number of messages in a batch: what fits into a batch of the Premium tier, 1 MiB, if each takes the least
// possible, 10 bytes with its data section. MaxScheduled is the maximum number of messages in a request that schedules
// messages, as in Azure Service Bus.
const (
	MaxBatchMessages = 1 << 20 / 10
	MaxScheduled     = 4500
)

// maxBatchSize is the maximum size of batches in bytes that clients are told, the same as Azure Service Bus's. Messages
// of usual sizes reach it long before MaxBatchMessages.
const maxBatchSize = 1 << 20

// LinkProperties returns the properties in the answer to the attach of a link on which clients send: the maximum size of a batch.
func LinkProperties(maxMessageSize uint64) amqp10.Map {
	return amqp10.Map{{Key: amqp10.Symbol("com.microsoft:max-message-batch-size"), Value: min(maxMessageSize, maxBatchSize)}}
}

// Batch splits a message of the BatchFormat; the messages alias it. Errors: *amqp10.Error if it is not a message, or
// contains no messages or too many.
func Batch(encoded []byte) (messages [][]byte, err error) {
	s, err := amqp10.ScanSections(encoded)
	if err != nil {
		return nil, err
	}
	if s.BodyKind != amqp10.SectionData {
		return nil, amqp10.Errorf(amqp10.InvalidField, "a batch without data sections")
	}
	for _, v := range s.BodyValues() {
		if len(messages) == MaxBatchMessages {
			return nil, amqp10.Errorf(amqp10.MessageSizeExceeded, "a batch of more than %d messages", MaxBatchMessages)
		}
		m, _ := v.Binary()
		messages = append(messages, m)
	}
	return messages, nil
}

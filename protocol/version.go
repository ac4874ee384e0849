package protocol

// RabbitMQVersion is the version of RabbitMQ that the broker announces in both protocols, over HTTP and on the command line, and whose
// behaviour it follows: clients decide by it which features to use (ADR 122).
const RabbitMQVersion = "4.3.6"

// Package schedules is the section of the HTTP API about recurring schedules, also for commands over AMQP.
package schedules

// Package refusal says why a virtual host does not declare, bind or delete what a
// client names, in RabbitMQ's words.
//
// Owns: nothing. It is given what was found under the names, and looks nothing up.
package refusal

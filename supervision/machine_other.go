//go:build !linux

package supervision

import "candlemark/internal/admin"

func measureSystem(*admin.Machine, string) {}

func descriptors() int { return unknownDescriptors }

//go:build !linux

package resources

import "candlemark/internal/admin/management"

func measureSystem(*management.Machine) {}

func descriptors() int { return unknownDescriptors }

func anonymousMemory() int64 { return 0 }

func machineMemory() int64 { return 0 }

func freeDisk(string) (free int64, known bool) { return 0, false }

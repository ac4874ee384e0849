// Package backup writes a copy of a running broker's definitions and messages into a folder, and restores a data
// folder from it (ADR 53).
//
// Owns: the form of a backup: the files of a data folder side by side, and manifest.json, which names them with their
// sizes and SHA-256 sums and is written last. Keeper runs one backup at a time.
//
// Takes no mail and sends none. The caller chooses the moment of a backup by passing a Cut; the content of a Cut does
// not change, so copying takes no lock.
//
// States: of a backup, running, then finished, failed or cancelled. A failed or cancelled backup removes its files; a
// killed one leaves a folder without a manifest, which Restore refuses.
//
// Deadlines: none; copying pauses half of the time, so that other work gets half of the disk's time.
//
// A restart loses: a running backup, and the status of the last one.
package backup

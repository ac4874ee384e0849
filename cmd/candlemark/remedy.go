package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"syscall"

	"candlemark/internal/storage/definitions"
)

// remedied adds to an error of a start what to do about it. setting and address belong to the listener that failed; "" for
// the data folder.
func remedied(err error, setting, address string) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w: another program uses this port: stop it, or choose another port, such as --%s %s", err, setting, after(address))
	case errors.Is(err, syscall.EACCES) && setting != "":
		return fmt.Errorf("%w: ports below 1024 need a privilege; choose another with --%s, or grant CAP_NET_BIND_SERVICE", err, setting)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w: this machine does not have the address; --%s sets another", err, setting)
	case errors.Is(err, definitions.ErrInUse):
		return fmt.Errorf("%w: stop it, or choose another folder with --data-dir", err)
	case setting == "" && (errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrNotExist)):
		return fmt.Errorf("%w: choose a folder that this user can write to with --data-dir", err)
	}
	return err
}

// after returns the address with the next port.
func after(address string) string {
	host, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	return net.JoinHostPort(host, strconv.Itoa(n+1))
}

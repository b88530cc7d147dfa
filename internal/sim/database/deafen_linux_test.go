package database_test

import "syscall"

// deafen takes a client off the network, as its server sees it: the kernel drops all arriving packets, and sends none.
func deafen(w sqlWire) error {
	raw, err := w.socket().SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	const returns = 0x06 // BPF_RET | BPF_K: nothing of the packet is accepted
	err = raw.Control(func(fd uintptr) {
		failed = syscall.AttachLsf(int(fd), []syscall.SockFilter{{Code: returns}}) //nolint:staticcheck // one instruction is not worth a module
	})
	if err == nil {
		err = failed
	}
	return err
}

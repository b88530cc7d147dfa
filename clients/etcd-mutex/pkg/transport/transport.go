// Package transport has the settings of TLS, which the simulated etcd does not speak.
package transport

import (
	"crypto/tls"
	"errors"

	"go.uber.org/zap"
)

// TLSInfo is settings of TLS.
type TLSInfo struct {
	CertFile, KeyFile, TrustedCAFile, ServerName string
	Logger                                       *zap.Logger
}

// ClientConfig refuses them.
func (TLSInfo) ClientConfig() (*tls.Config, error) {
	return nil, errors.New("the simulated etcd speaks no TLS")
}

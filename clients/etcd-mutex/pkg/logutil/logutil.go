// Package logutil makes the client's logger, which writes nothing.
package logutil

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// CreateDefaultZapLogger returns a logger that writes nothing.
func CreateDefaultZapLogger(zapcore.Level) (*zap.Logger, error) { return zap.NewNop(), nil }

// DefaultZapLoggerConfig has errors written to the standard error. Clients before 3.6 begin with it.
var DefaultZapLoggerConfig = zap.Config{
	Level: zap.NewAtomicLevelAt(zap.ErrorLevel), Encoding: "json", EncoderConfig: zap.NewProductionEncoderConfig(), OutputPaths: []string{"stderr"},
}

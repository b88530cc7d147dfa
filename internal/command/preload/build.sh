#!/bin/sh
# Builds the library that gives programs virtual time, for each architecture, and notes of which source it is.
# It is initialised before other libraries (initfirst): those of a program that another has started make system calls that the filter of
# its parent already traps.
set -eu
cd "$(dirname "$0")"
build() {
	"$1-linux-gnu-gcc" -O2 -Wall -Wextra -Werror -fPIC -shared -nostdlib -ffreestanding -fno-stack-protector -fno-builtin -Wl,--build-id=none,-z,initfirst,-z,norelro,-z,defs -s -o "linux_$2.so" preload.c $3
}
build x86_64 amd64 ""
build aarch64 arm64 -mno-outline-atomics # which would be in a library
sha256sum preload.c linux_*.so > sums

#!/bin/sh
# Builds the library that gives programs virtual time, and notes of which source it is.
# It is initialised before other libraries (initfirst): those of a program that another has started make system calls that the filter of
# its parent already traps.
set -eu
cd "$(dirname "$0")"
cc -O2 -Wall -Wextra -Werror -fPIC -shared -nostdlib -ffreestanding -fno-stack-protector -fno-builtin -Wl,--build-id=none,-z,initfirst -s -o linux_amd64.so preload.c
sha256sum preload.c linux_amd64.so > sums

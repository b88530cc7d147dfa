#!/bin/sh
# A lock by hand: SET NX PX, and a script that deletes the key if it has our value.
set -eu
host=${LOCKSIM_SERVERS%%:*} port=${LOCKSIM_SERVERS##*:}
redis() { redis-cli -h "$host" -p "$port" "$@"; }
value=$LOCKSIM_CLIENT-$(date +%s%N)
until [ "$(redis SET "$LOCKSIM_KEY" "$value" NX PX "$LOCKSIM_TTL_MS")" = OK ]; do sleep 0.1; done
curl -sf "$LOCKSIM_RESOURCE/x" >/dev/null
sleep "$((LOCKSIM_WORK_MS / 1000))"
curl -sf -X PUT "$LOCKSIM_RESOURCE/x" >/dev/null
redis EVAL 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end' 1 "$LOCKSIM_KEY" "$value"

<?php
// Runs a lock under locksim: Locksim\run(fn (object $config) => $lock), where $lock has acquire(?float $wait) and release().
//
// $config has servers, key, ttl_ms and more; $wait is seconds, 0 for once, null forever. acquire returns null or an array with any of
// value, token, ttl_ms (from now) and until_ms (of the wall clock). Throw Locksim\Refused if it is certain that the lock is not held.

namespace Locksim;

class Refused extends \Exception {}

function run(callable $open): void
{
    [$host, $port] = explode(':', getenv('LOCKSIM'));
    $lines = stream_socket_client("tcp://$host:$port");
    stream_set_timeout($lines, PHP_INT_MAX >> 32); // default_socket_timeout is a minute
    $say = fn (string $word, array $more = []) => fwrite($lines, json_encode(['word' => $word] + $more)."\n");
    $hear = fn (): object => json_decode(fgets($lines) ?: '{"word":"done"}');
    $say('ready');
    $lock = $open($hear());
    while (($asked = $hear())->word !== 'done') {
        try {
            if ($asked->word === 'start') {
                $wait = $asked->wait_ms ?? null;
                $say('acquired', $lock->acquire($wait === null ? null : $wait / 1000) ?? []);
            } else {
                $lock->release();
                $say('released');
            }
        } catch (Refused $why) {
            $say('refused', ['why' => $why->getMessage()]);
        } catch (\Throwable $why) {
            $say('failed', ['why' => get_class($why).': '.$why->getMessage()]);
        }
    }
}

<?php
require __DIR__.'/../../../sdk/php/locksim.php';
class Redlock // most of the servers, asked in turn, 50 ms each
{
    private $config, $sockets = [], $value;
    const DELETE = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end";
    function __construct(object $config)
    {
        $this->config = $config;
    }
    function ask(string $server, array $args)
    {
        $text = '*'.count($args)."\r\n";
        foreach ($args as $a) {
            $text .= '$'.strlen($a)."\r\n$a\r\n";
        }
        if (!isset($this->sockets[$server])) {
            $this->sockets[$server] = stream_socket_client('tcp://'.$server);
            stream_set_timeout($this->sockets[$server], 0, 50_000);
        }
        $answer = @fwrite($this->sockets[$server], $text) ? fgets($this->sockets[$server]) : false;
        if ($answer === false) { // one that comes later must not be taken for the next
            unset($this->sockets[$server]);
        }
        return in_array($answer, ["+OK\r\n", ":1\r\n"], true);
    }
    function most(...$args)
    {
        $votes = 0;
        foreach ($this->config->servers as $server) {
            $votes += $this->ask($server, $args);
        }
        return $votes > intdiv(count($this->config->servers), 2);
    }
    function acquire(?float $wait)
    {
        $end = $wait === null ? INF : hrtime(true) / 1e9 + $wait;
        while (true) {
            $begun = hrtime(true);
            $this->value = bin2hex(random_bytes(16));
            $ttl = (int) $this->config->ttl_ms;
            if ($this->most('SET', $this->config->key, $this->value, 'NX', 'PX', $ttl)) {
                $left = $ttl - $ttl / 100 - 2 - (hrtime(true) - $begun) / 1e6;
                if ($left > 0) {
                    return ['value' => $this->value, 'ttl_ms' => $left];
                }
            }
            $this->delete();
            if (hrtime(true) / 1e9 >= $end) {
                throw new Locksim\Refused('held');
            }
            usleep(100_000);
        }
    }
    function delete()
    {
        return $this->most('EVAL', self::DELETE, 1, $this->config->key, $this->value);
    }
    function release()
    {
        if (!$this->delete()) {
            throw new Locksim\Refused('not held');
        }
    }
}
Locksim\run(fn ($config) => new Redlock($config));

<?php
require __DIR__.'/../../../sdk/php/locksim.php';
class Lease
{
    private $config, $socket, $value;
    const RELEASE = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end";
    function __construct(object $config)
    {
        $this->config = $config;
        $this->socket = stream_socket_client('tcp://'.$config->servers[0]);
    }
    function send(...$args)
    {
        $text = '*'.count($args)."\r\n";
        foreach ($args as $a) {
            $text .= '$'.strlen($a)."\r\n$a\r\n";
        }
        fwrite($this->socket, $text);
        return fgets($this->socket);
    }
    function acquire(?float $wait)
    {
        $this->value = bin2hex(random_bytes(16));
        $end = $wait === null ? INF : hrtime(true) / 1e9 + $wait;
        while ($this->send('SET', $this->config->key, $this->value, 'NX', 'PX', $this->config->ttl_ms) !== "+OK\r\n") {
            if (hrtime(true) / 1e9 >= $end) {
                throw new Locksim\Refused('held');
            }
            usleep(100_000);
        }
        return ['value' => $this->value, 'ttl_ms' => $this->config->ttl_ms];
    }
    function release()
    {
        if ($this->send('EVAL', self::RELEASE, 1, $this->config->key, $this->value) !== ":1\r\n") {
            throw new Locksim\Refused('not held');
        }
    }
}
Locksim\run(fn ($config) => new Lease($config));

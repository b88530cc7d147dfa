<?php
// Symfony's Lock with its MemcachedStore, on the extension memcached.
// locksim:lock servers=memcached
use Symfony\Component\Lock\{Exception\LockConflictedException, LockFactory, Store\MemcachedStore};

foreach (['vendor/autoload.php', '/usr/share/php/Symfony/Component/Lock/autoload.php'] as $autoload) { // Composer's, or Debian's
    if (stream_resolve_include_path($autoload)) {
        require $autoload;
        break;
    }
}
require __DIR__.'/locksim.php';

class Client
{
    private $lock, $retry;

    function __construct(object $config)
    {
        [$host, $port] = explode(':', $config->servers[0]);
        $memcached = new Memcached();
        $memcached->addServer($host, (int) $port);
        $this->lock = (new LockFactory(new MemcachedStore($memcached)))->createLock($config->key, $config->ttl_ms / 1000, false);
        $this->retry = ($config->retry_ms ?? 100) * 1000;
    }

    function acquire(?float $wait)
    {
        $end = $wait === null ? INF : hrtime(true) / 1e9 + $wait;
        while (!$this->lock->acquire()) {
            if (hrtime(true) / 1e9 >= $end) {
                throw new Locksim\Refused('somebody else holds it');
            }
            usleep((int) $this->retry);
        }
        return ['ttl_ms' => $this->lock->getRemainingLifetime() * 1000];
    }

    function release()
    {
        $this->lock->release();
    }
}

Locksim\run(fn ($config) => new Client($config));

// redis-semaphore's Mutex on one server of the scenario; RedlockMutex if it has several.
//
// locksim:lock key=mutex:{key} authority=majority renews
const Redis = require('ioredis'), { Mutex, RedlockMutex, TimeoutError } = require('redis-semaphore')
const { run, Refused } = require('./locksim.js')

run(async (config, events) => {
  const clients = config.servers.map((s) => new Redis({ host: s.split(':')[0], port: +s.split(':')[1] }))
  for (const c of clients) c.on('error', () => {}) // it reconnects
  let mutex
  return {
    async acquire(wait) {
      const options = {
        lockTimeout: config.ttl_ms, acquireTimeout: wait === undefined ? Infinity : Math.max(wait, 1), retryInterval: config.retry_ms || 10,
        onLockLost: events.lost,
      }
      mutex = clients.length > 1 ? new RedlockMutex(clients, config.key, options) : new Mutex(clients[0], config.key, options)
      try {
        await mutex.acquire()
      } catch (why) {
        if (why instanceof TimeoutError) throw new Refused(why.message)
        throw why
      }
      return { value: mutex.identifier }
    },
    release: () => mutex.release(),
  }
})

// node-redlock 4: Redlock on all servers of the scenario.
const Redis = require('ioredis'), Redlock = require('redlock')
const { run, Refused } = require('./locksim.js')

run(async (config) => {
  const clients = config.servers.map((s) => new Redis({ host: s.split(':')[0], port: +s.split(':')[1] }))
  for (const c of clients) c.on('error', () => {}) // it reconnects
  const retryDelay = config.retry_ms || 200
  let lock
  return {
    async acquire(wait) {
      // retryCount 0 is taken for "not given" (options.retryCount || self.retryCount), so that once is an instance with that count
      const retryCount = wait === undefined ? -1 : Math.ceil(wait / retryDelay)
      const redlock = new Redlock(clients, { retryCount, retryDelay })
      redlock.on('clientError', () => {})
      try {
        lock = await redlock.lock(config.key, config.ttl_ms)
      } catch (why) {
        if (why instanceof Redlock.LockError) throw new Refused(why.message)
        throw why
      }
      return { value: lock.value, until_ms: lock.expiration }
    },
    release: () => lock.unlock(),
  }
})

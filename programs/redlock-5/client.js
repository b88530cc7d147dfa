// node-redlock 5: Redlock on all servers of the scenario.
const Redis = require('ioredis'), { default: Redlock } = require('redlock')
const { run } = require('./locksim.js')

run(async (config) => {
  const clients = config.servers.map((s) => new Redis({ host: s.split(':')[0], port: +s.split(':')[1] }))
  for (const c of clients) c.on('error', () => {}) // it reconnects
  const retryDelay = config.retry_ms || 200
  const redlock = new Redlock(clients, { retryDelay })
  redlock.on('error', () => {})
  let lock
  return {
    // An ExecutionError does not tell whether somebody else holds the lock or the servers did not answer.
    async acquire(wait) {
      lock = await redlock.acquire([config.key], config.ttl_ms, { retryCount: wait === undefined ? -1 : Math.ceil(wait / retryDelay) })
      return { value: lock.value, until_ms: lock.expiration }
    },
    release: () => lock.release(),
  }
})

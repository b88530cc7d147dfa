// node-redis-warlock on ioredis.
//
// locksim:lock key={key}:lock
const Redis = require('ioredis'), Warlock = require('node-redis-warlock')
const { run, Refused } = require('./locksim.js')

run(async (config) => {
  const [host, port] = config.servers[0].split(':')
  const redis = new Redis({ host, port: +port })
  redis.on('error', () => {}) // it reconnects
  const warlock = Warlock(redis), every = config.retry_ms || 100
  let unlock
  return {
    acquire: (wait) => new Promise((resolve, reject) => {
      const tries = wait === undefined ? Infinity : 1 + Math.ceil(wait / every)
      warlock.optimistic(config.key, config.ttl_ms, tries, every, (why, unlocks) => {
        if (why) return reject(why.maxAttempts ? new Refused(why.message) : why)
        unlock = unlocks
        resolve({})
      })
    }),
    release: () => new Promise((resolve, reject) => unlock((why, removed) => {
      if (why) return reject(why)
      removed === 1 ? resolve() : reject(new Refused('it was not ours any more'))
    })),
  }
})

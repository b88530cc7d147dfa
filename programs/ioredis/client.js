// A lock by hand with ioredis: SET NX PX, and a script that deletes the key if it has our value.
const Redis = require('ioredis'), { randomUUID } = require('crypto')
const { run, Refused } = require('./locksim.js')

run(async (config) => {
  const [host, port] = config.servers[0].split(':')
  const redis = new Redis({ host, port: +port })
  redis.on('error', () => {}) // it reconnects
  redis.defineCommand('releaseLock', {
    numberOfKeys: 1, lua: "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
  })
  let value
  return {
    async acquire(wait) {
      value = randomUUID()
      const end = wait === undefined ? Infinity : Date.now() + wait
      while (await redis.set(config.key, value, 'PX', config.ttl_ms, 'NX') !== 'OK') {
        if (Date.now() >= end) throw new Refused('somebody else holds it')
        await new Promise((wake) => setTimeout(wake, config.retry_ms || 100))
      }
      return { value }
    },
    async release() {
      if (await redis.releaseLock(config.key, value) !== 1) throw new Refused('it was not ours any more')
    },
  }
})

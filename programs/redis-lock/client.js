// redis-lock on node-redis.
//
// locksim:lock key=lock.{key}
const { createClient } = require('redis'), redisLock = require('redis-lock')
const { run } = require('./locksim.js')

run(async (config) => {
  const redis = createClient({ url: `redis://${config.servers[0]}` })
  redis.on('error', () => {}) // it reconnects
  await redis.connect()
  const lock = redisLock(redis, config.retry_ms)
  let release
  return {
    async acquire() { release = await lock(config.key, config.ttl_ms) }, // it waits forever
    release: () => release(),
  }
})

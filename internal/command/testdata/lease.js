const net = require('net')
const { run, Refused } = require('../../../sdk/javascript/locksim.js')
run(async (c) => {
  const [h, p] = c.servers[0].split(':')
  const s = net.connect(p, h)
  await new Promise((r) => s.once('connect', r))
  const send = (...a) => new Promise((r) => { s.once('data', (d) => r(d.toString())); s.write(`*${a.length}\r\n` + a.map((x) => `$${String(x).length}\r\n${x}\r\n`).join('')) })
  let value, n = 0
  return {
    async acquire(wait) {
      value = `${c.client} ${++n}` // node does not draw the same random numbers twice
      const end = wait === undefined ? Infinity : Date.now() + wait
      for (;;) {
        if ((await send('SET', c.key, value, 'NX', 'PX', c.ttl_ms)).startsWith('+OK')) return { value, ttl_ms: c.ttl_ms }
        if (Date.now() >= end) throw new Refused('held')
        await new Promise((r) => setTimeout(r, 100))
      }
    },
    async release() {
      const r = await send('EVAL', "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end", 1, c.key, value)
      if (r !== ':1\r\n') throw new Refused('not held')
    },
  }
})

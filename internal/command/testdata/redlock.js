const net = require('net')
const { run, Refused } = require('../../../sdk/javascript/locksim.js')
run((c) => { // Redlock: most of the servers, asked in turn, 50 ms each
  const sockets = {}
  const ask = (i, args) => new Promise((answer) => {
    const s = sockets[i] ??= net.connect(c.servers[i].split(':')[1], c.servers[i].split(':')[0]).on('error', () => {})
    const end = (yes, gone) => {
      clearTimeout(limit)
      s.removeAllListeners('data').removeAllListeners('close')
      if (gone) sockets[i] = s.destroy() && undefined // an answer that comes later must not be taken for the next
      answer(yes)
    }
    const limit = setTimeout(end, 50, false, true)
    s.once('data', (d) => end(['+OK\r\n', ':1\r\n'].includes(d.toString()))).once('close', () => end(false, true))
    s.write(`*${args.length}\r\n` + args.map((x) => `$${String(x).length}\r\n${x}\r\n`).join(''))
  })
  const most = async (...args) => {
    let votes = 0
    for (const i of c.servers.keys()) votes += await ask(i, args)
    return votes > Math.floor(c.servers.length / 2)
  }
  const script = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end"
  let value, n = 0
  return {
    async acquire(wait) {
      const end = wait === undefined ? Infinity : Date.now() + wait
      for (;;) {
        value = `${c.client} ${++n}`
        const begun = performance.now()
        if (await most('SET', c.key, value, 'NX', 'PX', c.ttl_ms)) {
          const left = c.ttl_ms - c.ttl_ms / 100 - 2 - (performance.now() - begun)
          if (left > 0) return { value, ttl_ms: left }
        }
        await most('EVAL', script, 1, c.key, value)
        if (Date.now() >= end) throw new Refused('held')
        await new Promise((r) => setTimeout(r, 100))
      }
    },
    async release() {
      if (!await most('EVAL', script, 1, c.key, value)) throw new Refused('not held')
    },
  }
})

// Runs a lock under locksim: run(open), where open(config) returns, or promises, an object with acquire(waitMs) and release().
//
// config has servers, key, ttl_ms and more; waitMs is 0 for once, undefined forever. acquire returns an object with any of
// value, token, ttl_ms (from now) and until_ms (of the wall clock). Throw Refused if it is certain that the lock is not held.
const net = require('net'), readline = require('readline')

class Refused extends Error {}

async function run(open) {
  const [host, port] = process.env.LOCKSIM.split(':')
  const socket = net.connect(port, host)
  const say = (word, more) => socket.write(JSON.stringify({ word, ...more }) + '\n')
  const lines = readline.createInterface({ input: socket })[Symbol.asyncIterator]()
  const hear = async () => JSON.parse((await lines.next()).value || '{"word":"done"}')
  say('ready', { can: open.verifies ? ['verify'] : [] })
  const lock = await open(await hear(), { lost: () => say('lost') })
  const does = {
    start: async (asked) => say('acquired', await lock.acquire(asked.wait_ms)),
    release: async () => { await lock.release(); say('released') },
    verify: async () => { await lock.verify(); say('held') },
  }
  for (let asked; (asked = await hear()).word !== 'done';) {
    try {
      await does[asked.word](asked)
    } catch (why) {
      say(why instanceof Refused ? 'refused' : 'failed', { why: String(why) })
    }
  }
  process.exit()
}

module.exports = { run, Refused }

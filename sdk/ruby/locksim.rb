# Runs a lock under locksim: Locksim.run { |config| lock }, where lock has acquire(wait) and release.
#
# config has "servers", "key", "ttl_ms" and more; wait is seconds, 0 for once, nil forever. acquire returns nil or a hash with any of
# value:, token:, ttl_ms: (from now) and until_ms: (of the wall clock). Raise Locksim::Refused if it is certain that the lock is not
# held. Call Locksim.lost, from any thread, when the library says that it no longer holds the lock.
require "json"
require "socket"

module Locksim
  class Refused < StandardError; end
  @saying = Mutex.new

  def self.lost = say("lost")

  def self.run
    host, port = ENV.fetch("LOCKSIM").split(":")
    @lines = TCPSocket.new(host, port.to_i)
    say("ready")
    lock = yield hear
    while (asked = hear)["word"] != "done"
      begin
        if asked["word"] == "start"
          wait = asked["wait_ms"]
          lease = lock.acquire(wait && wait / 1000.0)
          say("acquired", **(lease.is_a?(Hash) ? lease : {}))
        else
          lock.release
          say("released")
        end
      rescue Refused => why
        say("refused", why: why.message)
      rescue StandardError => why
        say("failed", why: why.inspect)
      end
    end
    exit! 0 # other threads do not keep it
  end

  def self.say(word, **more) = @saying.synchronize { @lines.write(JSON.generate({word: word, **more}) + "\n") }
  def self.hear = JSON.parse(@lines.gets || '{"word":"done"}')
  private_class_method :say, :hear
end

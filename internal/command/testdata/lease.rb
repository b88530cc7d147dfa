require "socket"
require "securerandom"
require_relative "../../../sdk/ruby/locksim"
class Lease
  RELEASE = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end"
  def initialize(config)
    @key, @ttl = config["key"], config["ttl_ms"].to_i
    host, port = config["servers"][0].split(":")
    @socket = TCPSocket.new(host, port.to_i)
  end
  def send(*args)
    @socket.write("*#{args.size}\r\n" + args.map { |a| "$#{a.to_s.bytesize}\r\n#{a}\r\n" }.join)
    @socket.gets
  end
  def acquire(wait)
    @value = SecureRandom.hex
    till = wait && Process.clock_gettime(Process::CLOCK_MONOTONIC) + wait
    until send("SET", @key, @value, "NX", "PX", @ttl).start_with?("+OK")
      raise Locksim::Refused, "held" if till && Process.clock_gettime(Process::CLOCK_MONOTONIC) >= till
      sleep 0.1
    end
    {value: @value, ttl_ms: @ttl}
  end
  def release
    raise Locksim::Refused, "not held" unless send("EVAL", RELEASE, 1, @key, @value) == ":1\r\n"
  end
end
Locksim.run { |config| Lease.new(config) }

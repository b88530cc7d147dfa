require "socket"
require "securerandom"
require_relative "../../../sdk/ruby/locksim"
class Redlock # most of the servers, asked in turn, 50 ms each
  DELETE = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end"
  def initialize(config)
    @key, @ttl, @servers, @sockets = config["key"], config["ttl_ms"].to_i, config["servers"], {}
  end
  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  def ask(server, args)
    socket = @sockets[server] ||= TCPSocket.new(*server.split(":"))
    socket.write("*#{args.size}\r\n" + args.map { |a| "$#{a.to_s.bytesize}\r\n#{a}\r\n" }.join)
    answer = socket.gets if socket.wait_readable(0.05)
    @sockets.delete(server) unless answer # one that comes later must not be taken for the next
    ["+OK\r\n", ":1\r\n"].include?(answer)
  rescue SystemCallError
    @sockets.delete(server)
    false
  end
  def most(*args) = @servers.map { |server| ask(server, args) }.count(true) > @servers.size / 2
  def acquire(wait)
    till = wait && now + wait
    loop do
      begun, @value = now, SecureRandom.hex
      if most("SET", @key, @value, "NX", "PX", @ttl)
        left = @ttl - @ttl / 100 - 2 - (now - begun) * 1000
        return {value: @value, ttl_ms: left} if left > 0
      end
      delete
      raise Locksim::Refused, "held" if till && now >= till
      sleep 0.1
    end
  end
  def delete = most("EVAL", DELETE, 1, @key, @value)
  def release
    raise Locksim::Refused, "not held" unless delete
  end
end
Locksim.run { |config| Redlock.new(config) }

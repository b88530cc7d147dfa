#include <chrono>
#include <thread>
#include "../../../sdk/cpp/locksim.hpp"
class lease {
	locksim::config config;
	std::FILE* redis;
	std::string value;
	int n = 0;
	std::string send(std::vector<std::string> args) {
		std::string text = "*" + std::to_string(args.size()) + "\r\n";
		for (auto& a : args) text += "$" + std::to_string(a.size()) + "\r\n" + a + "\r\n";
		std::fwrite(text.data(), 1, text.size(), redis);
		return locksim::line(redis);
	}
public:
	lease(const locksim::config& c) : config(c), redis(locksim::dial(c.servers[0])) {}
	locksim::lease acquire(std::optional<double> wait) {
		value = config.client + std::to_string(++n);
		auto begun = std::chrono::steady_clock::now();
		while (send({"SET", config.key, value, "NX", "PX", std::to_string(config.ttl_ms)}) != "+OK\r") {
			if (wait && std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() >= *wait) throw locksim::refused("held");
			std::this_thread::sleep_for(std::chrono::milliseconds(100));
		}
		return {value, 0, config.ttl_ms};
	}
	void release() {
		if (send({"EVAL", "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end", "1", config.key, value}) != ":1\r")
			throw locksim::refused("not held");
	}
};
int main() { locksim::run<lease>(); }

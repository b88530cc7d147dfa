#include <sys/time.h>
#include <chrono>
#include <map>
#include <thread>
#include "../../../sdk/cpp/locksim.hpp"
class redlock {  // most of the servers, asked in turn, 50 ms each
	using clock = std::chrono::steady_clock;
	locksim::config config;
	std::map<std::string, std::FILE*> files;
	std::string value;
	int n = 0;
	bool ask(const std::string& server, const std::string& text) {
		std::FILE*& redis = files[server];
		if (!redis) {
			redis = locksim::dial(server);
			timeval limit{0, 50'000};
			setsockopt(fileno(redis), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
		}
		std::fwrite(text.data(), 1, text.size(), redis);
		std::string answer = locksim::line(redis);
		if (answer.empty()) redis = (std::fclose(redis), nullptr);  // one that comes later must not be taken for the next
		return answer == "+OK\r" || answer == ":1\r";
	}
	bool most(std::vector<std::string> args) {
		std::string text = "*" + std::to_string(args.size()) + "\r\n";
		for (auto& a : args) text += "$" + std::to_string(a.size()) + "\r\n" + a + "\r\n";
		std::size_t votes = 0;
		for (auto& server : config.servers) votes += ask(server, text);
		return votes > config.servers.size() / 2;
	}
	bool remove() {
		return most({"EVAL", "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end", "1", config.key, value});
	}
	static double since(clock::time_point begun) { return std::chrono::duration<double>(clock::now() - begun).count(); }
public:
	redlock(const locksim::config& c) : config(c) {}
	locksim::lease acquire(std::optional<double> wait) {
		for (auto first = clock::now();;) {
			auto begun = clock::now();
			value = config.client + std::to_string(++n);
			if (most({"SET", config.key, value, "NX", "PX", std::to_string(config.ttl_ms)})) {
				long left = config.ttl_ms - config.ttl_ms / 100 - 2 - long(since(begun) * 1000);
				if (left > 0) return {value, 0, left};
			}
			remove();
			if (wait && since(first) >= *wait) throw locksim::refused("held");
			std::this_thread::sleep_for(std::chrono::milliseconds(100));
		}
	}
	void release() {
		if (!remove()) throw locksim::refused("not held");
	}
};
int main() { locksim::run<redlock>(); }

// Runs a lock under locksim: locksim::run<MyLock>(), where MyLock is made of a locksim::config, and has
// locksim::lease acquire(std::optional<double> wait), with wait in seconds, 0 for once and none forever, and void release().
//
// Throw locksim::refused if it is certain that the lock is not held; other exceptions leave open what the servers have done.
// It needs C++17 and no library: lines of the protocol are short, and their values are read by patterns.
#pragma once
#include <netdb.h>
#include <sys/socket.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

namespace locksim {

struct refused : std::runtime_error { using runtime_error::runtime_error; };

// What the lock is to use: addresses such as "10.0.0.1:6379".
struct config { std::string client; std::vector<std::string> servers; std::string key; long ttl_ms; };

// What is known of a lease: its value, its fencing token, how long it lasts from now; "" and 0 are unknown.
struct lease { std::string value; std::uint64_t token = 0; long ttl_ms = 0; };

// Opens a connection to "host:port".
inline std::FILE* dial(const std::string& address) {
	auto colon = address.rfind(':');
	addrinfo hints{}, *at = nullptr;
	hints.ai_family = AF_INET, hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &hints, &at) != 0) throw std::runtime_error("no address: " + address);
	int fd = socket(at->ai_family, at->ai_socktype, 0);
	bool there = connect(fd, at->ai_addr, at->ai_addrlen) == 0;
	freeaddrinfo(at);
	if (!there) throw std::runtime_error("cannot connect to " + address);
	std::FILE* f = fdopen(fd, "r+");
	setvbuf(f, nullptr, _IONBF, 0);
	return f;
}

// Reads a line, without its end; "" is the end of the connection.
inline std::string line(std::FILE* f) {
	std::string text;
	for (int c; (c = std::fgetc(f)) != EOF && c != '\n';) text += char(c);
	return text;
}

inline std::string value(const std::string& line, const std::string& name) {
	std::smatch m;
	return std::regex_search(line, m, std::regex("\"" + name + "\":(\"([^\"]*)\"|\\[([^\\]]*)\\]|[0-9.eE+]+)")) ? (m[2].matched ? m[2] : m[3].matched ? m[3] : m[1]) : std::string();
}

inline std::string quoted(const std::string& s) {
	std::string text = "\"";
	for (unsigned char c : s) {
		char escaped[8];
		std::snprintf(escaped, sizeof escaped, c < ' ' || c == '"' || c == '\\' ? "\\u%04x" : "%c", c);
		text += escaped;
	}
	return text + '"';
}

template <class Lock> void run() {
	std::FILE* lines = dial(std::getenv("LOCKSIM"));
	auto say = [&](const std::string& word, const std::string& more = "") { std::fprintf(lines, "%s", ("{\"word\":\"" + word + "\"" + more + "}\n").c_str()); };
	say("ready");
	std::string told = line(lines), servers = value(told, "servers");
	config c{value(told, "client"), {}, value(told, "key"), long(std::stod(value(told, "ttl_ms")))};
	std::regex address("[^\",]+");
	for (std::sregex_iterator i(servers.begin(), servers.end(), address), end; i != end; ++i) c.servers.push_back(i->str());
	Lock lock(c);
	for (std::string asked; !(asked = line(lines)).empty() && value(asked, "word") != "done";) {
		try {
			if (value(asked, "word") == "start") {
				std::string wait = value(asked, "wait_ms");
				lease l = lock.acquire(wait.empty() ? std::nullopt : std::optional<double>(std::stod(wait) / 1000));
				say("acquired", (l.value.empty() ? "" : ",\"value\":" + quoted(l.value)) + (l.token ? ",\"token\":" + std::to_string(l.token) : "") +
					(l.ttl_ms ? ",\"ttl_ms\":" + std::to_string(l.ttl_ms) : ""));
			} else {
				lock.release();
				say("released");
			}
		} catch (const refused& why) {
			say("refused", ",\"why\":" + quoted(why.what()));
		} catch (const std::exception& why) {
			say("failed", ",\"why\":" + quoted(why.what()));
		}
	}
	std::_Exit(0);
}

}  // namespace locksim

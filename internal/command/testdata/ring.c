// ring.c hands a token round among threads of several processes, by futexes and by pipes: ring SEED HOPS FILE. Each does a
// little, or nothing, before it passes the token on. FILE counts the hops; after the last one all wait forever. With SDK in the
// environment it also speaks to locksim: one thread sleeps for an hour meanwhile, and then it says how long each took.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { most = 12 };
static struct shared { uint32_t hops, slept, word[most]; } *shared;
static struct { int pipe[2], by_pipe, process; } place[most];
static int places, processes, hops;
static uint64_t seed;

static uint64_t draw(void) { // xorshift
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed;
}

static long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void give(int to) {
	if (place[to].by_pipe) {
		if (write(place[to].pipe[1], "t", 1) != 1) exit(1);
		return;
	}
	__atomic_store_n(&shared->word[to], 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &shared->word[to], FUTEX_WAKE, 1, 0, 0, 0);
}

static void take(int at) {
	char token;
	if (place[at].by_pipe) {
		if (read(place[at].pipe[0], &token, 1) != 1) exit(1);
		return;
	}
	while (!__atomic_exchange_n(&shared->word[at], 0, __ATOMIC_ACQ_REL)) syscall(SYS_futex, &shared->word[at], FUTEX_WAIT, 0, 0, 0, 0);
}

static void *stands(void *number) {
	int at = (int)(intptr_t)number;
	for (uint64_t mine = seed + at;;) {
		take(at);
		mine = mine * 6364136223846793005 + 1442695040888963407;
		int does = mine >> 60;
		for (int i = does; i > 12; i--) sched_yield();
		for (volatile int i = 0; does < 3 && i < (int)(mine >> 50 & 1023); i++) continue;
		if (__atomic_add_fetch(&shared->hops, 1, __ATOMIC_ACQ_REL) < (uint32_t)hops) give((at + 1) % places);
		else if (getenv("SDK")) syscall(SYS_futex, &shared->hops, FUTEX_WAKE, 1, 0, 0, 0);
	}
}

static void *sleeps(void *unused) {
	sleep(3600);
	__atomic_store_n(&shared->slept, 1, __ATOMIC_RELEASE);
	return unused;
}

int main(int argc, char **argv) {
	if (argc != 4) return 2;
	seed = strtoull(argv[1], 0, 0) * 0x9e3779b97f4a7c15 + 1, hops = atoi(argv[2]);
	int file = open(argv[3], O_RDWR);
	shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (shared == MAP_FAILED) return 2;
	for (int i = 0; i < 8; i++) draw();
	places = 2 + draw() % (most - 1), processes = 1 + draw() % 3;
	for (int i = 0; i < places; i++) {
		place[i].by_pipe = draw() & 1, place[i].process = draw() % processes;
		if (pipe(place[i].pipe)) return 2;
	}
	pthread_t thread, sleeper;
	for (int p = 0; p < processes; p++) {
		if (p && fork()) continue; // the first process stands in the ring itself
		for (int i = 0; i < places; i++)
			if (place[i].process == p) pthread_create(&thread, 0, stands, (void *)(intptr_t)i);
		if (p) for (;;) pause();
	}
	if (!getenv("SDK")) {
		give(0);
		for (;;) pause();
	}
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	to.sin_port = htons(atoi(strchr(getenv("LOCKSIM"), ':') + 1));
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(s, (struct sockaddr *)&to, sizeof to) || dprintf(s, "{\"word\":\"ready\"}\n") < 0) return 1;
	long begun = now();
	pthread_create(&sleeper, 0, sleeps, 0);
	give(0);
	for (uint32_t n; (n = __atomic_load_n(&shared->hops, __ATOMIC_ACQUIRE)) < (uint32_t)hops;)
		syscall(SYS_futex, &shared->hops, FUTEX_WAIT, n, 0, 0, 0);
	printf("round for %ld, slept %d, ", now() - begun, shared->slept);
	pthread_join(sleeper, 0);
	printf("%ld\n", now() - begun);
	fflush(stdout);
	return 3;
}

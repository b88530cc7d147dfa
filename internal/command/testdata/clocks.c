// clocks.c waits until the wall clock shows 20 s more, then for 10 s, and says how far each clock has come meanwhile, in
// milliseconds. It says that it is ready, and nothing else.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long now(clockid_t id) {
	struct timespec t;
	clock_gettime(id, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(void) {
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	to.sin_port = htons(atoi(strchr(getenv("LOCKSIM"), ':') + 1));
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(s, (struct sockaddr *)&to, sizeof to) || dprintf(s, "{\"word\":\"ready\"}\n") < 0) return 1;
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	long monotonic = now(CLOCK_MONOTONIC), wall = now(CLOCK_REALTIME);
	printf("apart %ld, ", wall - monotonic);
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 20;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &end);
	printf("until %ld %ld, ", now(CLOCK_MONOTONIC) - monotonic, now(CLOCK_REALTIME) - wall);
	sleep(10);
	printf("for %ld %ld\n", now(CLOCK_MONOTONIC) - monotonic, now(CLOCK_REALTIME) - wall);
	fflush(stdout);
	return 3;
}

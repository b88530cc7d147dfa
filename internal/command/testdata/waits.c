// waits.c waits in each way that takes a time limit, and prints how long that took by its own clock, in milliseconds, and what
// came of it. It says that it is ready, and nothing else.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long now(clockid_t id) {
	struct timespec t;
	clock_gettime(id, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static long begun, calls;
#define TOOK(what, result) do { \
	int r = (result); \
	printf("%s %ld %d%s", what, now(CLOCK_MONOTONIC) - begun, r, ++calls % 4 ? "; " : "\n"); \
	begun = now(CLOCK_MONOTONIC); \
} while (0)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void *signals(void *unused) {
	usleep(700000);
	pthread_mutex_lock(&mutex);
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static struct timespec later(int seconds) {
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += seconds;
	return t;
}

static void ready(void) {
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	to.sin_port = htons(atoi(strchr(getenv("LOCKSIM"), ':') + 1));
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(s, (struct sockaddr *)&to, sizeof to) || dprintf(s, "{\"word\":\"ready\"}\n") < 0) exit(1);
}

int main(void) {
	ready();
	setvbuf(stdout, NULL, _IOLBF, 0);
	struct timespec t = {1, 500000000}, end;
	struct timeval tv = {2, 0};
	int pipes[2];
	if (pipe(pipes)) return 1;
	struct pollfd file = {.fd = pipes[0], .events = POLLIN};
	fd_set set;
	begun = now(CLOCK_MONOTONIC);
	TOOK("nanosleep", nanosleep(&t, NULL));
	TOOK("usleep", usleep(250000));
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 3;
	TOOK("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL));
	TOOK("poll", poll(&file, 1, 1000));
	TOOK("poll 0", poll(&file, 1, 0));
	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	TOOK("select", select(pipes[0] + 1, &set, NULL, NULL, &tv));
	FD_SET(pipes[0], &set);
	TOOK("pselect", pselect(pipes[0] + 1, &set, NULL, NULL, &t, NULL));
	TOOK("ppoll", ppoll(&file, 1, &t, NULL));
	int e = epoll_create1(0);
	struct epoll_event event;
	TOOK("epoll_wait", epoll_wait(e, &event, 1, 600000));
	TOOK("pthread_cond_timedwait", (end = later(4), pthread_mutex_lock(&mutex), pthread_cond_timedwait(&cond, &mutex, &end)) == ETIMEDOUT);
	pthread_t other;
	pthread_create(&other, NULL, signals, NULL);
	end = later(4);
	TOOK("pthread_cond_timedwait, signalled", pthread_cond_timedwait(&cond, &mutex, &end));
	pthread_mutex_unlock(&mutex);
	TOOK("pthread_join", pthread_join(other, NULL));
	sem_t sem;
	sem_init(&sem, 0, 0);
	end = later(5);
	TOOK("sem_timedwait", sem_timedwait(&sem, &end));
	if (fork() == 0) {
		sleep(30);
		if (write(pipes[1], "x", 1) != 1) return 1;
		_exit(7);
	}
	TOOK("poll, written to by a child", poll(&file, 1, 60000));
	int status = 0;
	wait(&status);
	TOOK("wait", WEXITSTATUS(status));
	TOOK("system", system("sleep 12"));
	printf("wall and monotonic clock %ld\n", now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC));
	while (now(CLOCK_MONOTONIC) < begun + 5) continue;
	TOOK("reads its clock until it shows more", 0);
	int pair[2];
	char byte;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 1;
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
	TOOK("recv, SO_RCVTIMEO", recv(pair[0], &byte, 1, 0) < 0 && errno == EAGAIN);
	TOOK("read, SO_RCVTIMEO", read(pair[0], &byte, 1) < 0 && errno == EAGAIN);
	if (write(pair[1], "y", 1) != 1) return 1;
	TOOK("read, what is there", read(pair[0], &byte, 1));
	file.fd = pair[0];
	sigset_t signals;
	sigfillset(&signals);
	sigdelset(&signals, SIGSEGV);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	TOOK("sigtimedwait", sigtimedwait(&signals, NULL, &t) < 0 && errno == EAGAIN);
	kill(getpid(), SIGUSR1);
	TOOK("sigtimedwait, what is there", sigtimedwait(&signals, NULL, &t) == SIGUSR1);
	TOOK("poll, all signals blocked", poll(&file, 1, 1000));
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 7;
	TOOK("clock_nanosleep, wall clock", clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, NULL));
	TOOK("epoll_pwait2", syscall(441 /* SYS_epoll_pwait2 */, e, &event, 1, &t, NULL, 0));
	TOOK("io_uring is not there", syscall(SYS_io_uring_setup, 1, NULL) < 0 && errno == ENOSYS);
	unsigned char random[4];
	if (getrandom(random, sizeof random, 0) != sizeof random) return 1;
	printf("random %02x%02x%02x%02x\n", random[0], random[1], random[2], random[3]);
	return 3;
}

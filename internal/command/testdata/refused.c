// refused.c makes a system call that is not given virtual time, which its argument names. It says that it is ready, and nothing else.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	to.sin_port = htons(atoi(strchr(getenv("LOCKSIM"), ':') + 1));
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (argc != 2 || connect(s, (struct sockaddr *)&to, sizeof to) || dprintf(s, "{\"word\":\"ready\"}\n") < 0) return 1;
	struct timespec t = {1, 0};
	struct itimerval timer = {.it_value = {1, 0}};
	timer_t id;
	char byte;
	struct iovec part = {&byte, 1};
	struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
	struct sembuf down = {0, -1, 0};
	const char *call = argv[1];
	if (!strcmp(call, "timerfd_create")) timerfd_create(CLOCK_MONOTONIC, 0);
	if (!strcmp(call, "none") && timer_create(CLOCK_MONOTONIC, NULL, &id)) return 1; // a timer that is never armed does no harm
	if (!strcmp(call, "timer_settime") && !timer_create(CLOCK_MONOTONIC, NULL, &id))
		timer_settime(id, 0, &(struct itimerspec){.it_value = {1, 0}}, NULL);
	if (!strcmp(call, "setitimer")) setitimer(ITIMER_REAL, &timer, NULL);
#ifdef SYS_alarm
	if (!strcmp(call, "alarm")) syscall(SYS_alarm, 1);
#endif
	if (!strcmp(call, "semtimedop")) semtimedop(0, &down, 1, &t);
	if (!strcmp(call, "mq_timedsend")) syscall(SYS_mq_timedsend, -1, &byte, 1, 0, &t);
	if (!strcmp(call, "mq_timedreceive")) syscall(SYS_mq_timedreceive, -1, &byte, 1, NULL, &t);
	if (!strcmp(call, "recvmmsg")) recvmmsg(s, &message, 1, 0, &t);
	if (!strcmp(call, "io_getevents")) syscall(SYS_io_getevents, 0, 1, 1, NULL, &t);
	if (!strcmp(call, "futex_waitv")) syscall(449, NULL, 0, 0, &t, 0);
	if (!strcmp(call, "execve after SO_RCVTIMEO")) {
		setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &timer.it_value, sizeof timer.it_value);
		if (system("true") == 0) return 1;
	}
	for (;;) pause();
}

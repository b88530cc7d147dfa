// preload.c gives an unmodified program virtual time. It is loaded into each process of a program by LD_PRELOAD.
//
// A page that is shared with locksim says what the clocks show. A wait with a time limit becomes one without: its deadline
// stands in a slot of the page, and when virtual time has come to it, locksim sends the thread a signal. System calls with a
// time limit are found by a seccomp filter, which sends SIGSYS in their place, so that no library has to be known; clocks,
// which programs read without a system call, are replaced by name.
//
// It uses nothing of the C library, so that one build serves glibc and musl. The page is described in page.go.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/auxvec.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <linux/time_types.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <time.h>
#include <ucontext.h>

enum { slots = 2048, routes = 64, wake = 62, patience = 1 << 20 };

struct slot {
	int32_t thread;  // 0: free
	int32_t clock;   // that the deadline is of: 0 monotonic, 1 wall
	uint32_t state;  // 0: not waiting; 1: waiting; 2: the deadline has come
	uint32_t word;   // what a sleep waits on; always 0
	int64_t deadline;
	int64_t spare;
};

struct page {
	uint32_t processes; // how many have begun
	uint32_t refused;   // the system call that cannot be given virtual time, plus one
	int64_t monotonic, wall;
	uint64_t seed;
	uint32_t reads; // of clocks since time has moved
	uint32_t routed;
	uint32_t group; // of the first process
	char cord[28];
	struct { uint32_t address; uint16_t port, to; char name[32]; } route[routes]; // in network order; names are of addresses
	struct slot slot[slots] __attribute__((aligned(4096)));
};

static struct page *page;

// stub makes a system call from an address that is the same in each process: the filter, which lives on in a program that
// takes the place of another, lets calls from there pass.
#define STUB 0x5c51000000UL
typedef long (*system_call)(long n, long a, long b, long c, long d, long e, long f);
#define sys(n, a, b, c, d, e, f) \
	((system_call)STUB)(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

// Local symbols would be looked up in a table of addresses, where the linker for arm64 has one for all of a section.
#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN char stub_begins[], stub_calls[], stub_ends[];
__asm__(".globl stub_begins, stub_calls, stub_ends\n");
#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#define STUB_END (STUB + stub_calls - stub_begins)
__asm__(".text\nstub_begins: mov %rdi,%rax; mov %rsi,%rdi; mov %rdx,%rsi; mov %rcx,%rdx; mov %r8,%r10; mov %r9,%r8\n"
	"mov 8(%rsp),%r9; syscall\nstub_calls: ret\nstub_ends:\n"
	"restorer: mov $15,%eax; syscall\n");
extern void restorer(void);
static long direct(long n, long a, long b, long c, long d, long e, long f) {
	long r;
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return r;
}
static void written(void) {}
#define ARG(u, i) ((u)->uc_mcontext.gregs[(const int[]){REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9}[i]])
#define RESULT(u) ((u)->uc_mcontext.gregs[REG_RAX])
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#define STUB_END (STUB + stub_calls - stub_begins)
__asm__(".text\nstub_begins: mov x8,x0; mov x0,x1; mov x1,x2; mov x2,x3; mov x3,x4; mov x4,x5; mov x5,x6\n"
	"svc 0\nstub_calls: ret\nstub_ends:\n");
static long direct(long n, long a, long b, long c, long d, long e, long f) {
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
		x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
}
// written has the processor see the stub's code, which it has as data (Arm Architecture Reference Manual, "Caches and memory hierarchy"); a
// line of a cache has 16 bytes or more.
static void written(void) {
	for (unsigned long at = STUB; at < STUB + 64; at += 16) __asm__ volatile("dc cvau, %0" : : "r"(at) : "memory");
	__asm__ volatile("dsb ish" : : : "memory");
	for (unsigned long at = STUB; at < STUB + 64; at += 16) __asm__ volatile("ic ivau, %0" : : "r"(at) : "memory");
	__asm__ volatile("dsb ish\n isb" : : : "memory");
}
#define ARG(u, i) ((u)->uc_mcontext.regs[i])
#define RESULT(u) ((u)->uc_mcontext.regs[0])
#endif
#define POINTER(u, i) ((void *)ARG(u, i))

// Clocks.

// shown is what a clock shows. A program that waits by reading a clock again and again would wait forever: from some number of
// readings on each one takes a microsecond.
static int64_t shown(int clock) {
	uint32_t n = __atomic_load_n(&page->reads, __ATOMIC_RELAXED);
	int64_t more = n > patience ? (int64_t)(n - patience) * 1000 : 0;
	return __atomic_load_n(clock ? &page->wall : &page->monotonic, __ATOMIC_RELAXED) + more;
}

static int64_t reading(int clock) {
	__atomic_add_fetch(&page->reads, 1, __ATOMIC_RELAXED);
	return shown(clock);
}

static int virtual_clock(clockid_t id) {
	switch (id) {
	case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE: case CLOCK_TAI: return 1;
	case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_RAW: case CLOCK_MONOTONIC_COARSE: case CLOCK_BOOTTIME: return 0;
	}
	return -1;
}

static void put(struct timespec *t, int64_t ns) { t->tv_sec = ns / 1000000000; t->tv_nsec = ns % 1000000000; }
static int64_t ns(const struct timespec *t) {
	if (t->tv_sec > 9000000000L) return INT64_MAX;
	return t->tv_sec * 1000000000L + t->tv_nsec;
}

int clock_gettime(clockid_t id, struct timespec *t) {
	int clock = virtual_clock(id);
	if (!page) return direct(SYS_clock_gettime, id, (long)t, 0, 0, 0, 0) ? -1 : 0;
	if (clock < 0) return sys(SYS_clock_gettime, id, t, 0, 0, 0, 0) ? -1 : 0; // processor time: the filter traps a direct call
	put(t, reading(clock));
	return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
	(void)zone;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (t) *t = now.tv_sec;
	return now.tv_sec;
}

int timespec_get(struct timespec *t, int base) { return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, t) ? base : 0; }

int ftime(struct timeb *t) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	*t = (struct timeb){.time = now.tv_sec, .millitm = now.tv_nsec / 1000000};
	return 0;
}

// Waits.

static struct slot *own(void) {
	int32_t me = sys(SYS_gettid, 0, 0, 0, 0, 0, 0);
	for (int i = 0; i < slots; i++) {
		struct slot *s = &page->slot[(me + i) % slots];
		int32_t is = __atomic_load_n(&s->thread, __ATOMIC_ACQUIRE);
		if (is == me) return s;
		if (!is && __atomic_compare_exchange_n(&s->thread, &is, me, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return s;
	}
	return 0;
}

// until makes a system call that has no time limit and ends it at a deadline: with *late then.
static long until(int clock, int64_t deadline, int *late, long n, long a, long b, long c, long d, long e, long f) {
	struct slot *s = own();
	*late = 0;
	if (!s) return -ENOMEM;
	s->clock = clock;
	s->deadline = deadline;
	__atomic_store_n(&s->state, 1, __ATOMIC_RELEASE);
	long r = sys(n, a, b, c, d, e, f);
	*late = __atomic_exchange_n(&s->state, 0, __ATOMIC_ACQ_REL) == 2 && r == -EINTR;
	return r;
}

static int64_t from_now(int64_t d) {
	int64_t now = shown(0);
	return d > INT64_MAX - now ? INT64_MAX : now + d;
}

static long sleeps(int clock, int absolute, const struct timespec *t, struct timespec *left) {
	if (!t) return -EFAULT;
	if (t->tv_sec < 0 || t->tv_nsec < 0 || t->tv_nsec >= 1000000000) return -EINVAL;
	int64_t now = shown(clock);
	int64_t deadline = absolute ? ns(t) : from_now(ns(t));
	if (absolute ? deadline <= now : ns(t) == 0) return 0;
	struct slot *s = own();
	if (!s) return -ENOMEM;
	int late;
	until(absolute ? clock : 0, deadline, &late, SYS_futex, (long)&s->word, FUTEX_WAIT, 0, 0, 0, 0);
	if (late) return 0;
	int64_t over = deadline - shown(0);
	if (left && !absolute) put(left, over > 0 ? over : 0);
	return -EINTR;
}

static long waits_futex(ucontext_t *u) {
	int op = ARG(u, 1), command = op & FUTEX_CMD_MASK;
	const struct timespec *t = (const struct timespec *)ARG(u, 3);
	int absolute = command != FUTEX_WAIT, late;
	int clock = absolute && (op & FUTEX_CLOCK_REALTIME);
	if (t->tv_sec < 0) return absolute ? -ETIMEDOUT : -EINVAL;
	int64_t deadline = absolute ? ns(t) : from_now(ns(t));
	if (!absolute && ns(t) == 0)
		return sys(SYS_futex, ARG(u, 0), op, ARG(u, 2), t, ARG(u, 4), ARG(u, 5));
	if (absolute && deadline <= shown(clock)) {
		static const struct timespec never;
		return sys(SYS_futex, ARG(u, 0), op, ARG(u, 2), &never, ARG(u, 4), ARG(u, 5));
	}
	long r = until(clock, deadline, &late, SYS_futex, ARG(u, 0), op & ~FUTEX_CLOCK_REALTIME, ARG(u, 2), 0, ARG(u, 4), ARG(u, 5));
	return late ? -ETIMEDOUT : r;
}

// Masks of signals are 64 bits to the kernel. SIGSYS and the signal that ends waits must never be blocked.
static uint64_t unblocked(uint64_t mask) { return mask & ~(1UL << (SIGSYS - 1) | 1UL << (wake - 1)); }

static const struct timespec at_once;

// polls is poll and ppoll.
static long polls(long files, long n, int64_t limit, const uint64_t *mask) {
	uint64_t copy;
	int late;
	if (mask) copy = unblocked(*mask), mask = &copy;
	if (limit <= 0) return sys(SYS_ppoll, files, n, &at_once, mask, 8, 0);
	long r = until(0, from_now(limit), &late, SYS_ppoll, files, n, 0, (long)mask, 8, 0);
	return late ? 0 : r;
}

// polls_events is the family of epoll_wait.
static long polls_events(long fd, long events, long most, int64_t limit, const uint64_t *mask) {
	uint64_t copy;
	int late;
	if (mask) copy = unblocked(*mask), mask = &copy;
	if (limit <= 0) return sys(SYS_epoll_pwait, fd, events, most, 0, mask, 8);
	long r = until(0, from_now(limit), &late, SYS_epoll_pwait, fd, events, most, -1, (long)mask, 8);
	return late ? 0 : r;
}

struct masked { const uint64_t *mask; size_t size; }; // pselect6's last argument

// selects is select and pselect6.
static long selects(long n, uint64_t *r, uint64_t *w, uint64_t *x, int64_t limit, const struct masked *with) {
	uint64_t copy;
	int late = 0;
	struct masked own_mask = {0, 8};
	if (with && with->mask) copy = unblocked(*with->mask), own_mask.mask = &copy;
	if (limit <= 0) return sys(SYS_pselect6, n, r, w, x, &at_once, &own_mask);
	long result = until(0, from_now(limit), &late, SYS_pselect6, n, (long)r, (long)w, (long)x, 0, (long)&own_mask);
	for (int i = 0; late && i < (n + 63) / 64; i++) {
		if (r) r[i] = 0;
		if (w) w[i] = 0;
		if (x) x[i] = 0;
	}
	return late ? 0 : result;
}

static long waits_signal(const uint64_t *set, siginfo_t *info, const struct timespec *t, size_t size) { // rt_sigtimedwait
	uint64_t copy;
	int late;
	if (size != 8) return -EINVAL;
	copy = unblocked(*set);
	if (ns(t) <= 0) return sys(SYS_rt_sigtimedwait, &copy, info, &at_once, size, 0, 0);
	long r = until(0, from_now(ns(t)), &late, SYS_rt_sigtimedwait, (long)&copy, (long)info, 0, size, 0, 0);
	return late ? -EAGAIN : r;
}

// Other calls.

static long blocks(ucontext_t *u) { // rt_sigprocmask; what is restored when the handler returns counts
	uint64_t *mask = (uint64_t *)&u->uc_sigmask, before = *mask;
	const uint64_t *set = (const uint64_t *)ARG(u, 1);
	uint64_t *old = (uint64_t *)ARG(u, 2);
	if (ARG(u, 3) != 8) return -EINVAL;
	if (set) {
		switch (ARG(u, 0)) {
		case SIG_BLOCK: *mask = unblocked(before | *set); break;
		case SIG_UNBLOCK: *mask = before & ~*set; break;
		case SIG_SETMASK: *mask = unblocked(*set); break;
		default: return -EINVAL;
		}
	}
	if (old) *old = before;
	return 0;
}

struct action { void *handler; unsigned long flags; void *restorer; uint64_t mask; }; // the kernel's struct sigaction

static long handles(ucontext_t *u) { // rt_sigaction
	const struct action *to = (const struct action *)ARG(u, 1);
	struct action copy;
	if (to && (ARG(u, 0) == SIGSYS || ARG(u, 0) == wake)) return 0; // they stay ours
	if (to) copy = *to, copy.mask = unblocked(copy.mask), to = &copy;
	return sys(SYS_rt_sigaction, ARG(u, 0), to, ARG(u, 2), ARG(u, 3), 0, 0);
}

// reroutes puts an address of this machine in place of one of the simulation.
static void reroutes(uint32_t *address, uint16_t *port) {
	for (uint32_t i = 0; i < page->routed; i++)
		if (page->route[i].address == *address && page->route[i].port == *port) {
			*address = htonl(INADDR_LOOPBACK);
			*port = page->route[i].to;
			return;
		}
}

// getaddrinfo finds an address for a name by which servers tell of each other, and leaves the rest to the C library. The last
// number of these addresses has three digits.
extern void *dlsym(void *from, const char *name) __attribute__((weak));

int getaddrinfo(const char *restrict name, const char *restrict service, const struct addrinfo *restrict hints, struct addrinfo **restrict to) {
	static int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	char number[] = "10.0.1.100";
	if (!next && dlsym) next = (__typeof__(next))dlsym((void *)-1L /* RTLD_NEXT */, "getaddrinfo");
	if (!next) return EAI_FAIL;
	for (uint32_t i = 0; name && page && i < page->routed; i++) {
		int k = 0;
		while (page->route[i].name[k] && page->route[i].name[k] == name[k]) k++;
		if (page->route[i].name[k] || name[k] || !k) continue;
		uint32_t last = ntohl(page->route[i].address) & 255;
		for (int at = sizeof number - 2; at > 6; at--, last /= 10) number[at] = '0' + last % 10;
		return next(number, service, hints, to);
	}
	return next(name, service, hints, to);
}

static long connects(ucontext_t *u) {
	union { struct sockaddr_in four; struct sockaddr_in6 six; } to;
	socklen_t size = ARG(u, 2);
	const char *from = POINTER(u, 1);
	for (socklen_t i = 0; i < size && i < sizeof to; i++) ((char *)&to)[i] = from[i];
	if (size >= sizeof to.four && to.four.sin_family == AF_INET)
		reroutes(&to.four.sin_addr.s_addr, &to.four.sin_port);
	else if (size >= sizeof to.six && to.six.sin6_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&to.six.sin6_addr))
		reroutes(&to.six.sin6_addr.s6_addr32[3], &to.six.sin6_port);
	else
		return sys(SYS_connect, ARG(u, 0), from, size, 0, 0, 0);
	return sys(SYS_connect, ARG(u, 0), &to, size < sizeof to ? size : sizeof to, 0, 0, 0);
}

// Time limits of sockets (SO_RCVTIMEO): the kernel is not told of them. Reads are looked at only from the first limit on. A
// program that is started then would be killed by its first read, which comes before this library is loaded: that is refused.

enum { sockets = 4096 };
static int64_t limit[sockets]; // of each file descriptor, in nanoseconds; 0: none
static int limited;
static long look_at_reads(void);

static long sets_option(ucontext_t *u) {
	int fd = ARG(u, 0), option = ARG(u, 2);
	const struct timeval *t = POINTER(u, 3);
	if (option == SO_RCVTIMEO && fd >= 0 && fd < sockets && (size_t)ARG(u, 4) >= sizeof *t) {
		limit[fd] = t->tv_sec * 1000000000L + t->tv_usec * 1000;
		return limit[fd] && !__atomic_exchange_n(&limited, 1, __ATOMIC_ACQ_REL) ? look_at_reads() : 0;
	}
	if (option == SO_SNDTIMEO) return 0; // what is written is taken at once
	return sys(SYS_setsockopt, fd, ARG(u, 1), option, t, ARG(u, 4), 0);
}

static long reads(int n, ucontext_t *u) {
	int fd = ARG(u, 0);
	if (fd >= 0 && fd < sockets && limit[fd]) {
		struct pollfd file = {.fd = fd, .events = POLLIN};
		long r = polls((long)&file, 1, limit[fd], 0);
		if (r <= 0) return r ? r : -EAGAIN;
	}
	return sys(n, ARG(u, 0), ARG(u, 1), ARG(u, 2), ARG(u, 3), ARG(u, 4), ARG(u, 5));
}

static long closes(ucontext_t *u) {
	int fd = ARG(u, 0);
	if (fd >= 0 && fd < sockets) limit[fd] = 0;
	return sys(SYS_close, fd, 0, 0, 0, 0, 0);
}

static long draws(unsigned char *to, size_t n) { // getrandom, by SplitMix64
	for (size_t i = 0; i < n;) {
		uint64_t z = __atomic_add_fetch(&page->seed, 0x9e3779b97f4a7c15, __ATOMIC_RELAXED);
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
		z = (z ^ z >> 27) * 0x94d049bb133111eb;
		z ^= z >> 31;
		for (int k = 0; k < 8 && i < n; k++, i++) to[i] = z >> 8 * k;
	}
	return n;
}

static long refuses(int n) {
	page->refused = n + 1;
	return -ENOSYS;
}

// tie has the kernel kill the process's group when locksim ends, however it does.
static void tie(void) {
	long fd = direct(SYS_openat, -100, (long)page->cord, O_RDONLY | O_NONBLOCK, 0, 0, 0);
	if (fd < 0) return;
	long high = direct(SYS_fcntl, fd, F_DUPFD, 100, 0, 0, 0); // no script has a use for that number
	sys(SYS_close, fd, 0, 0, 0, 0, 0);
	direct(SYS_fcntl, high, F_SETOWN, -direct(SYS_getpgid, 0, 0, 0, 0, 0, 0), 0, 0, 0);
	direct(SYS_fcntl, high, F_SETSIG, SIGKILL, 0, 0, 0);
	direct(SYS_fcntl, high, F_SETFL, O_ASYNC | O_NONBLOCK, 0, 0, 0);
	char none; // it has ended before: nobody writes any more, and the kernel will not say so
	if (sys(SYS_read, high, (long)&none, 1, 0, 0, 0) == 0) sys(SYS_kill, 0, SIGKILL, 0, 0, 0, 0);
}

static long leaves(int n, ucontext_t *u) { // setsid, setpgid
	long r = sys(n, ARG(u, 0), ARG(u, 1), 0, 0, 0, 0);
	if (r >= 0) tie();
	return r;
}

static int installed;
#define PROBE (-1000)

static int64_t millis(long ms) { return (int)ms * 1000000L; }

static long emulate(int n, ucontext_t *u) {
	switch (n) {
	case SYS_futex: return waits_futex(u);
	case SYS_nanosleep: return sleeps(0, 0, POINTER(u, 0), POINTER(u, 1));
	case SYS_clock_nanosleep:
		if (virtual_clock(ARG(u, 0)) < 0) return -EINVAL;
		return sleeps(virtual_clock(ARG(u, 0)), ARG(u, 1) & TIMER_ABSTIME, POINTER(u, 2), POINTER(u, 3));
#ifdef SYS_poll
	case SYS_poll: return polls(ARG(u, 0), ARG(u, 1), millis(ARG(u, 2)), 0);
	case SYS_epoll_wait: return polls_events(ARG(u, 0), ARG(u, 1), ARG(u, 2), millis(ARG(u, 3)), 0);
	case SYS_select: {
		const struct timeval *t = POINTER(u, 4);
		return selects(ARG(u, 0), POINTER(u, 1), POINTER(u, 2), POINTER(u, 3), t->tv_sec * 1000000000L + t->tv_usec * 1000, 0);
	}
	case SYS_time: return time(POINTER(u, 0));
#endif
	case SYS_ppoll: return polls(ARG(u, 0), ARG(u, 1), ns(POINTER(u, 2)), POINTER(u, 3));
	case SYS_pselect6: return selects(ARG(u, 0), POINTER(u, 1), POINTER(u, 2), POINTER(u, 3), ns(POINTER(u, 4)), POINTER(u, 5));
	case SYS_epoll_pwait: return polls_events(ARG(u, 0), ARG(u, 1), ARG(u, 2), millis(ARG(u, 3)), POINTER(u, 4));
	case SYS_epoll_pwait2: return polls_events(ARG(u, 0), ARG(u, 1), ARG(u, 2), ns(POINTER(u, 3)), POINTER(u, 4));
	case SYS_rt_sigtimedwait: return waits_signal(POINTER(u, 0), POINTER(u, 1), POINTER(u, 2), ARG(u, 3));
	case SYS_clock_gettime: return clock_gettime(ARG(u, 0), (struct timespec *)ARG(u, 1)) ? -EINVAL : 0;
	case SYS_gettimeofday: return gettimeofday((struct timeval *)ARG(u, 0), 0);
	case SYS_rt_sigprocmask: return blocks(u);
	case SYS_rt_sigaction: return handles(u);
	case SYS_connect: return connects(u);
	case SYS_setsockopt: return sets_option(u);
	case SYS_read: case SYS_readv: case SYS_recvfrom: case SYS_recvmsg: return reads(n, u);
	case SYS_close: return closes(u);
	case SYS_setsid: case SYS_setpgid: return leaves(n, u);
	case SYS_getrandom: return draws((unsigned char *)ARG(u, 0), ARG(u, 1));
	case SYS_io_uring_setup: return -ENOSYS; // those who have it know how to go on without it
	case PROBE: return ++installed;
	}
	return refuses(n);
}

static void trapped(int signal, siginfo_t *info, void *context) {
	(void)signal;
	ucontext_t *u = context;
	RESULT(u) = emulate(info->si_syscall, u);
}

static void woken(int signal) { (void)signal; }

#define SYSCALL(n, then) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(n), 0, then)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ARGUMENT(i) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[i]))
#define ARGUMENT_HIGH(i) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[i]) + 4)
#define SAME(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(k), yes, no)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define TRAP BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)
#define ALWAYS(n) SYSCALL(n, 1), TRAP
// a limit in milliseconds, which is none if negative, and no wait if 0
#define LIMITED(n, i) SYSCALL(n, 5), ARGUMENT(i), SAME(0, 2, 0), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x80000000, 1, 0), TRAP, ALLOW
// a limit behind a pointer
#define POINTED(n, i) SYSCALL(n, 6), ARGUMENT(i), SAME(0, 0, 2), ARGUMENT_HIGH(i), SAME(0, 1, 0), TRAP, ALLOW

// What comes from the stub passes: where that is is filled in.
#define BEGIN \
	LOAD(arch), SAME(ARCH, 1, 0), ALLOW, LOAD(instruction_pointer), SAME(0, 0, 3), \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4), SAME(0, 0, 1), ALLOW, LOAD(nr)

static struct sock_filter filter[] = {
	BEGIN,
	SYSCALL(SYS_setsockopt, 7), ARGUMENT(1), SAME(SOL_SOCKET, 0, 3), ARGUMENT(2), SAME(SO_RCVTIMEO, 2, 0), SAME(SO_SNDTIMEO, 1, 0), ALLOW, TRAP,
	SYSCALL(SYS_futex, 10), ARGUMENT(1), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, FUTEX_CMD_MASK),
	SAME(FUTEX_WAIT, 1, 0), SAME(FUTEX_WAIT_BITSET, 0, 4), ARGUMENT(3), SAME(0, 0, 3), ARGUMENT_HIGH(3), SAME(0, 0, 1), ALLOW, TRAP,
	POINTED(SYS_ppoll, 2), POINTED(SYS_pselect6, 4), LIMITED(SYS_epoll_pwait, 3), POINTED(SYS_epoll_pwait2, 3),
	ALWAYS(SYS_nanosleep), ALWAYS(SYS_clock_nanosleep), ALWAYS(SYS_clock_gettime), ALWAYS(SYS_gettimeofday),
	ALWAYS(SYS_rt_sigprocmask), ALWAYS(SYS_rt_sigaction), ALWAYS(SYS_connect), ALWAYS(SYS_getrandom), ALWAYS(PROBE), ALWAYS(SYS_setsid),
	ALWAYS(SYS_setpgid),
	ALWAYS(SYS_timerfd_create), ALWAYS(SYS_timer_settime), ALWAYS(SYS_setitimer), ALWAYS(SYS_io_uring_setup),
	ALWAYS(SYS_futex_waitv), POINTED(SYS_semtimedop, 3), POINTED(SYS_rt_sigtimedwait, 2), POINTED(SYS_mq_timedsend, 4),
	POINTED(SYS_mq_timedreceive, 4), POINTED(SYS_recvmmsg, 4), POINTED(SYS_io_getevents, 4),
#ifdef SYS_poll
	LIMITED(SYS_poll, 2), LIMITED(SYS_epoll_wait, 3), POINTED(SYS_select, 4), ALWAYS(SYS_alarm), ALWAYS(SYS_time),
#endif
	ALLOW,
};

static struct sock_filter of_reads[] = {
	BEGIN, ALWAYS(SYS_execve), ALWAYS(SYS_execveat), ALWAYS(SYS_read), ALWAYS(SYS_readv), ALWAYS(SYS_recvfrom), ALWAYS(SYS_recvmsg),
	ALWAYS(SYS_close), ALLOW,
};

// install has all threads of the process go through a filter.
static long install(struct sock_filter *list, unsigned short length) {
	list[4].k = (uint32_t)STUB_END;
	list[6].k = (uint32_t)(STUB_END >> 32);
	struct sock_fprog program = {length, list};
	return sys(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program, 0, 0, 0);
}

static long look_at_reads(void) { return install(of_reads, sizeof of_reads / sizeof *of_reads); }

static const char *variable(char **environment, const char *name) {
	for (; *environment; environment++) {
		int i = 0;
		while (name[i] && (*environment)[i] == name[i]) i++;
		if (!name[i] && (*environment)[i] == '=') return *environment + i + 1;
	}
	return 0;
}

// stack finds where the process's arguments begin, with their number: constructors get them of glibc, and not of musl. It is the
// 28th field of /proc/self/stat (proc(5)).
static long *stack(void) {
	char text[1024];
	long fd = direct(SYS_openat, -100, (long)"/proc/self/stat", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long n = direct(SYS_pread64, fd, (long)text, sizeof text, 0, 0, 0), i = n - 1, at = 0;
	direct(SYS_close, fd, 0, 0, 0, 0, 0);
	if (fd < 0 || n <= 0) return 0;
	while (i > 0 && text[i] != ')') i--; // names may have spaces and brackets in them
	for (int field = 2; i < n && field < 28; i++) field += text[i] == ' ';
	for (; i < n && text[i] >= '0' && text[i] <= '9'; i++) at = at * 10 + text[i] - '0';
	return (long *)at;
}

// forgets_vdso has a C library find no clocks that it could read without a system call: what it calls itself goes past symbols.
static void forgets_vdso(long *auxiliary) {
	for (; auxiliary[0] != AT_NULL; auxiliary += 2)
		if (auxiliary[0] == AT_SYSINFO_EHDR) auxiliary[1] = 0;
}

__attribute__((constructor)) static void begin(void) {
	long *arguments = stack();
	if (!arguments) return;
	char **environment = (char **)(arguments + arguments[0] + 2);
	const char *file = variable(environment, "LOCKSIM_PAGE");
	if (!file) return;
	long fd = direct(SYS_openat, -100, (long)file, 2 /* O_RDWR */ | 02000000 /* O_CLOEXEC */, 0, 0, 0);
	if (fd < 0) return;
	long at = direct(SYS_mmap, 0, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	direct(SYS_close, fd, 0, 0, 0, 0, 0);
	if (at < 0 && at > -4096) return;
	long stub = direct(SYS_mmap, STUB, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (stub != STUB) return;
	for (long i = 0; i < stub_ends - stub_begins; i++) ((char *)STUB)[i] = stub_begins[i];
	direct(SYS_mprotect, STUB, 4096, PROT_READ | PROT_EXEC, 0, 0, 0);
	written();
	page = (struct page *)at;
	while (*environment) environment++;
	forgets_vdso((long *)(environment + 1));
	struct action a = {(void *)trapped, SA_SIGINFO | SA_NODEFER | SA_RESTART, 0, 0};
#if defined(__x86_64__)
	a.flags |= 0x04000000 /* SA_RESTORER */;
	a.restorer = (void *)restorer;
#endif
	sys(SYS_rt_sigaction, SIGSYS, &a, 0, 8, 0, 0);
	a.handler = (void *)woken;
	a.flags &= ~(SA_RESTART | SA_SIGINFO);
	sys(SYS_rt_sigaction, wake, &a, 0, 8, 0, 0);
	uint64_t ours = ~unblocked(~0UL);
	sys(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, 0, 8, 0, 0);
	direct(PROBE, 0, 0, 0, 0, 0, 0);
	if (!installed) {
		sys(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
		if (install(filter, sizeof filter / sizeof *filter)) return;
	}
	// The first process inherits what others leave behind, so that all are found among its descendants.
	uint32_t group = direct(SYS_getpgid, 0, 0, 0, 0, 0, 0);
	if (!page->group) direct(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0);
	if (page->group != group) tie(); // exec may have closed what tied it
	if (!page->group) page->group = group;
	__atomic_add_fetch(&page->processes, 1, __ATOMIC_RELEASE);
}

// Preloaded into a process that writes a SQLite database. It watches, or slows, what reaches the disk.
//
// DISK_SHIM_TRACE=FILE  append one line for each write to a file named *-wal that carries a marker `<<row N>>`
//                       ("write N"), each fsync of such a file ("sync"), and each marker `<<ack N>>` written to
//                       standard output ("ack N"), in the order they happen.
// DISK_SHIM_DELAY_US=N  make every fsync and fdatasync take N microseconds longer, as an ordinary disk does.
// DISK_SHIM_LIE=1       report fsync of a log as done without doing or tracing it: what the trace must catch.
// DISK_SHIM_KILL_AT=N   kill the process with -9 at its Nth moment. Moments are right before and right after whatever makes
//                       something lasting: an fsync, a file that is renamed, linked or removed, and a COMMIT that is
//                       sent to a database server.
// DISK_SHIM_FULL=FILE   while FILE exists, writes to files named *.db, *-wal and *-journal fail as on a full disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int trace = -2;
static long delay_us;
static int lies;
static const char *full;
static long kill_at;
static long moments;
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_rename)(const char *, const char *);
static int (*real_linkat)(int, const char *, int, const char *, int);
static int (*real_unlink)(const char *);
static ssize_t (*real_send)(int, const void *, size_t, int);
static ssize_t (*real_writev)(int, const struct iovec *, int);

__attribute__((constructor)) static void begin(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_rename = dlsym(RTLD_NEXT, "rename");
  real_linkat = dlsym(RTLD_NEXT, "linkat");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_send = dlsym(RTLD_NEXT, "send");
  real_writev = dlsym(RTLD_NEXT, "writev");
  const char *killed = getenv("DISK_SHIM_KILL_AT");
  kill_at = killed ? atol(killed) : 0;
  const char *file = getenv("DISK_SHIM_TRACE");
  trace = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
  const char *delay = getenv("DISK_SHIM_DELAY_US");
  delay_us = delay ? atol(delay) : 0;
  lies = getenv("DISK_SHIM_LIE") != NULL;
  full = getenv("DISK_SHIM_FULL");
}

static void wait_us(long us) {
  struct timespec pause = {us / 1000000, (us % 1000000) * 1000};
  nanosleep(&pause, NULL);
}

static void moment(void) {
  if (kill_at > 0 && __sync_add_and_fetch(&moments, 1) == kill_at) {
    kill(getpid(), SIGKILL);
    for (;;) wait_us(1000000);
  }
}

static int ends_with(int fd, const char *ending) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1), wanted = strlen(ending);
  return length > wanted && memcmp(path + length - wanted, ending, wanted) == 0;
}

static int is_log(int fd) { return ends_with(fd, "-wal"); }

static int is_full(int fd) {
  return full && access(full, F_OK) == 0 && (is_log(fd) || ends_with(fd, ".db") || ends_with(fd, "-journal"));
}

static void note(const char *line, int length) {
  if (real_write(trace, line, length) != length) abort();
}

static void note_markers(const char *what, const char *mark, const char *bytes, size_t size) {
  size_t length = strlen(mark);
  for (const char *at = bytes; (at = memmem(at, size - (at - bytes), mark, length)); at += length) {
    char line[64];
    note(line, snprintf(line, sizeof line, "%s %lu\n", what, strtoul(at + length, NULL, 10)));
  }
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at) {
  if (is_full(fd)) {
    errno = ENOSPC;
    return -1;
  }
  ssize_t written = real_pwrite(fd, bytes, size, at);
  if (trace >= 0 && written > 0 && is_log(fd)) {
    pthread_mutex_lock(&order);
    note_markers("write", "<<row ", bytes, written);
    pthread_mutex_unlock(&order);
  }
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { return pwrite64(fd, bytes, size, at); }

ssize_t write(int fd, const void *bytes, size_t size) {
  if (trace >= 0 && fd == 1) {
    pthread_mutex_lock(&order);
    note_markers("ack", "<<ack ", bytes, size);
    pthread_mutex_unlock(&order);
  }
  return real_write(fd, bytes, size);
}

static int synced(int fd, int (*real)(int)) {
  if (lies && is_log(fd)) return 0;
  if (delay_us > 0) wait_us(delay_us);
  moment();
  int result = real(fd);
  moment();
  if (trace >= 0 && result == 0 && is_log(fd)) {
    pthread_mutex_lock(&order);
    note("sync\n", 5);
    pthread_mutex_unlock(&order);
  }
  return result;
}

int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

int rename(const char *from, const char *to) {
  moment();
  int result = real_rename(from, to);
  moment();
  return result;
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  moment();
  int result = real_linkat(from_folder, from, to_folder, to, flags);
  moment();
  return result;
}

int unlink(const char *path) {
  moment();
  int result = real_unlink(path);
  moment();
  return result;
}

static int commits(const void *bytes, size_t size) { return kill_at > 0 && memmem(bytes, size, "COMMIT", 6) != NULL; }

// The server is given the time to commit before nobody hears its answer.
static void sent(void) {
  wait_us(30000);
  moment();
}

ssize_t send(int fd, const void *bytes, size_t size, int flags) {
  if (!commits(bytes, size)) return real_send(fd, bytes, size, flags);
  moment();
  ssize_t result = real_send(fd, bytes, size, flags);
  sent();
  return result;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  int any = 0;
  for (int at = 0; at < count; at++) any |= commits(parts[at].iov_base, parts[at].iov_len);
  if (!any) return real_writev(fd, parts, count);
  moment();
  ssize_t result = real_writev(fd, parts, count);
  sent();
  return result;
}

// Preloaded into a process that writes a SQLite database. It watches, or slows, what reaches the disk.
//
// DISK_SHIM_TRACE=FILE  append one line for each write to a file named *-wal that carries a marker `<<row N>>`
//                       ("write N"), each fsync of such a file ("sync"), and each marker `<<ack N>>` written to
//                       standard output ("ack N"), in the order they happen.
// DISK_SHIM_DELAY_US=N  make every fsync and fdatasync take N microseconds longer, as an ordinary disk does.
// DISK_SHIM_LIE=1       report fsync of a log as done without doing or tracing it: what the trace must catch.
// DISK_SHIM_FULL=FILE   while FILE exists, writes to files named *.db, *-wal and *-journal fail as on a full disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int trace = -2;
static long delay_us;
static int lies;
static const char *full;
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void begin(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  const char *file = getenv("DISK_SHIM_TRACE");
  trace = file ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
  const char *delay = getenv("DISK_SHIM_DELAY_US");
  delay_us = delay ? atol(delay) : 0;
  lies = getenv("DISK_SHIM_LIE") != NULL;
  full = getenv("DISK_SHIM_FULL");
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
  if (delay_us > 0) {
    struct timespec pause = {delay_us / 1000000, (delay_us % 1000000) * 1000};
    nanosleep(&pause, NULL);
  }
  int result = real(fd);
  if (trace >= 0 && result == 0 && is_log(fd)) {
    pthread_mutex_lock(&order);
    note("sync\n", 5);
    pthread_mutex_unlock(&order);
  }
  return result;
}

int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

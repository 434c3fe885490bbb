// A library that simulates a failing disk. Preloaded (LD_PRELOAD) into belfry and into the git processes that it
// starts, it makes one chosen call that writes to a file fail. The processes share one counter, so that the call
// numbers are unique in a run.
//
//   FAIL_PREFIX   counts only calls on files below this path, so that terminals and pipes never fail
//   FAIL_COUNTER  a file of 64 zero bytes, which the processes share; contains the number of calls afterwards
//   FAIL_TRACE    a file to which each counted call appends a line: its number, kind and path
//   FAIL_KIND     the counted kinds, separated by commas (default: all except open, mkdir, unlink and flock)
//   FAIL_N        the number of the call that fails (default: none)
//   FAIL_ALL      1: every counted call fails, as on a file system that does not support it
//   FAIL_ERRNO    ENOSPC, EIO, EDQUOT, EPERM, ENOTSUP or ENOLCK
//   FAIL_STICKY   1: as on a disk that stays full, all later calls that may need space fail as well. Later renames and
//                 links succeed, because they only change names.
//   FAIL_KILL     1: instead of failing, the Nth call kills the process group before it takes effect
//   FAIL_SHORT    1: if the Nth call is a write, it writes half of its bytes, and the next write of that process fails
//
// Writes of stdio inside the C library are not intercepted. git writes FETCH_HEAD and packed-refs this way.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum verdict { PASS, FAIL, HALF };

static const char *const usual = "write,pwrite,writev,fsync,fdatasync,syncfs,rename,link";

static const char *prefix, *kinds;
static atomic_ulong *counter;
static unsigned long chosen;
static int number, is_all, is_sticky, is_short, is_kill, trace = -1;

static const struct { const char *name; int number; } errors[] = {
  {"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EDQUOT", EDQUOT}, {"EPERM", EPERM}, {"ENOTSUP", ENOTSUP}, {"ENOLCK", ENOLCK},
};

// Set after a short write. The next write of this process fails.
static atomic_int owed;

static int is_set(const char *name) {
  const char *value = getenv(name);
  return value && strcmp(value, "1") == 0;
}

__attribute__((constructor)) static void begin(void) {
  const char *count = getenv("FAIL_COUNTER"), *path = getenv("FAIL_TRACE"), *chosen_call = getenv("FAIL_N");
  const char *error = getenv("FAIL_ERRNO");
  prefix = getenv("FAIL_PREFIX");
  kinds = getenv("FAIL_KIND") ? getenv("FAIL_KIND") : usual;
  if (!prefix || !count) return;
  int file = (int)syscall(SYS_openat, AT_FDCWD, count, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *memory = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (memory == MAP_FAILED) return;
  chosen = chosen_call ? strtoul(chosen_call, NULL, 10) : 0;
  is_sticky = is_set("FAIL_STICKY");
  is_short = is_set("FAIL_SHORT");
  is_kill = is_set("FAIL_KILL");
  is_all = is_set("FAIL_ALL");
  number = ENOSPC;
  for (size_t index = 0; error && index < sizeof errors / sizeof *errors; index++)
    if (strcmp(error, errors[index].name) == 0) number = errors[index].number;
  if (path) {
    // A high number, so that the process does not use it.
    int opened = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC);
    trace = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, 700);
    if (trace >= 0) syscall(SYS_close, opened);
  }
  counter = memory;
}

// Returns 1 if a kind is counted.
static int counts(const char *kind) {
  size_t length = strlen(kind);
  for (const char *at = kinds; (at = strstr(at, kind)) != NULL; at += length)
    if ((at == kinds || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return 1;
  return 0;
}

static int needs_room(const char *kind) { return strcmp(kind, "rename") != 0 && strcmp(kind, "link") != 0; }

// Counts a call on a file, and returns its outcome.
static enum verdict judge(const char *kind, const char *path, int is_write) {
  if (!counter || strncmp(path, prefix, strlen(prefix)) != 0 || !counts(kind)) return PASS;
  unsigned long call = atomic_fetch_add(counter, 1) + 1;
  if (trace >= 0) {
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%lu %s %s\n", call, kind, path);
    syscall(SYS_write, trace, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
  }
  if (is_all) return FAIL;
  if (chosen == 0) return PASS;
  if (call == chosen && is_kill) kill(0, SIGKILL);
  if (is_write && atomic_exchange(&owed, 0)) return FAIL;
  if (call == chosen && is_short && is_write) return HALF;
  return call == chosen || (is_sticky && call > chosen && needs_room(kind)) ? FAIL : PASS;
}

static enum verdict judge_file(const char *kind, int file, int is_write) {
  if (!counter) return PASS;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return PASS;
  path[length] = 0;
  return judge(kind, path, is_write);
}

static enum verdict judge_path(const char *kind, int folder, const char *path) {
  if (!counter || !path) return PASS;
  if (path[0] == '/') return judge(kind, path, 0);
  char link[64], whole[PATH_MAX + 1];
  snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
  ssize_t length = readlink(link, whole, sizeof whole - 1);
  if (length < 0 || (size_t)length + strlen(path) + 2 > sizeof whole) return PASS;
  whole[length] = '/';
  strcpy(whole + length + 1, path);
  return judge(kind, whole, 0);
}

static int refuse(void) {
  errno = number;
  return -1;
}

// The C library's function of this name. The functions below preserve the `errno` that it sets.
#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))
#define KEEPING_ERRNO(statement) do { int kept = errno; statement; errno = kept; } while (0)

ssize_t write(int file, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = REAL(ssize_t, "write", int, const void *, size_t);
  enum verdict verdict;
  KEEPING_ERRNO(verdict = judge_file("write", file, 1));
  if (verdict == HALF && count > 1) {
    atomic_store(&owed, 1);
    return real(file, bytes, count / 2);
  }
  return verdict == PASS ? real(file, bytes, count) : refuse();
}

static ssize_t write_at(int file, const void *bytes, size_t count, off_t offset) {
  static ssize_t (*real)(int, const void *, size_t, off_t);
  if (!real) real = REAL(ssize_t, "pwrite64", int, const void *, size_t, off_t);
  enum verdict verdict;
  KEEPING_ERRNO(verdict = judge_file("pwrite", file, 1));
  if (verdict == HALF && count > 1) {
    atomic_store(&owed, 1);
    return real(file, bytes, count / 2, offset);
  }
  return verdict == PASS ? real(file, bytes, count, offset) : refuse();
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) { return write_at(file, bytes, count, offset); }
ssize_t pwrite64(int file, const void *bytes, size_t count, off_t offset) {
  return write_at(file, bytes, count, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  static ssize_t (*real)(int, const struct iovec *, int);
  if (!real) real = REAL(ssize_t, "writev", int, const struct iovec *, int);
  enum verdict verdict;
  KEEPING_ERRNO(verdict = judge_file("writev", file, 1));
  if (verdict == HALF && count > 0 && parts[0].iov_len > 1) {
    struct iovec half = {parts[0].iov_base, parts[0].iov_len / 2};
    atomic_store(&owed, 1);
    return real(file, &half, 1);
  }
  return verdict == PASS ? real(file, parts, count) : refuse();
}

#define ON_FILE(name)                                                  \
  int name(int file) {                                                 \
    static int (*real)(int);                                           \
    if (!real) real = REAL(int, #name, int);                           \
    enum verdict verdict;                                              \
    KEEPING_ERRNO(verdict = judge_file(#name, file, 0));               \
    return verdict == PASS ? real(file) : refuse();                    \
  }
ON_FILE(fsync)
ON_FILE(fdatasync)
ON_FILE(syncfs)

int flock(int file, int operation) {
  static int (*real)(int, int);
  if (!real) real = REAL(int, "flock", int, int);
  enum verdict verdict;
  KEEPING_ERRNO(verdict = judge_file("flock", file, 0));
  return verdict == PASS ? real(file, operation) : refuse();
}

#define ON_TWO_PATHS(name)                                             \
  int name(const char *from, const char *to) {                         \
    static int (*real)(const char *, const char *);                    \
    if (!real) real = REAL(int, #name, const char *, const char *);    \
    enum verdict verdict;                                              \
    KEEPING_ERRNO(verdict = judge_path(#name, AT_FDCWD, to));          \
    return verdict == PASS ? real(from, to) : refuse();                \
  }
ON_TWO_PATHS(rename)
ON_TWO_PATHS(link)

int renameat(int from, const char *old, int to, const char *new) {
  static int (*real)(int, const char *, int, const char *);
  if (!real) real = REAL(int, "renameat", int, const char *, int, const char *);
  enum verdict verdict;
  KEEPING_ERRNO(verdict = judge_path("rename", to, new));
  return verdict == PASS ? real(from, old, to, new) : refuse();
}

int renameat2(int from, const char *old, int to, const char *new, unsigned int flags) {
  static int (*real)(int, const char *, int, const char *, unsigned int);
  if (!real) real = REAL(int, "renameat2", int, const char *, int, const char *, unsigned int);
  enum verdict verdict;
  KEEPING_ERRNO(verdict = judge_path("rename", to, new));
  return verdict == PASS ? real(from, old, to, new, flags) : refuse();
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
  static int (*real)(int, const char *, int, const char *, int);
  if (!real) real = REAL(int, "linkat", int, const char *, int, const char *, int);
  enum verdict verdict;
  KEEPING_ERRNO(verdict = judge_path("link", to, new));
  return verdict == PASS ? real(from, old, to, new, flags) : refuse();
}

// Counts calls that may create a file.
static int open_at(int folder, const char *path, int flags, mode_t mode) {
  static int (*real)(int, const char *, int, ...);
  if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64");
  enum verdict verdict = PASS;
  if (flags & O_CREAT) KEEPING_ERRNO(verdict = judge_path("open", folder, path));
  return verdict == PASS ? real(folder, path, flags, mode) : refuse();
}

#define MODE(flags, last, mode)                                        \
  mode_t mode = 0;                                                     \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {                             \
    va_list rest;                                                      \
    va_start(rest, last);                                              \
    mode = va_arg(rest, mode_t);                                       \
    va_end(rest);                                                      \
  }

int open(const char *path, int flags, ...) {
  MODE(flags, flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE(flags, flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
  MODE(flags, flags, mode)
  return open_at(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...) {
  MODE(flags, flags, mode)
  return open_at(folder, path, flags, mode);
}

int creat(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int mkdir(const char *path, mode_t mode) {
  static int (*real)(const char *, mode_t);
  if (!real) real = REAL(int, "mkdir", const char *, mode_t);
  enum verdict verdict;
  KEEPING_ERRNO(verdict = judge_path("mkdir", AT_FDCWD, path));
  return verdict == PASS ? real(path, mode) : refuse();
}

int unlink(const char *path) {
  static int (*real)(const char *);
  if (!real) real = REAL(int, "unlink", const char *);
  enum verdict verdict;
  KEEPING_ERRNO(verdict = judge_path("unlink", AT_FDCWD, path));
  return verdict == PASS ? real(path) : refuse();
}

#ifndef BELFRY_CLINUX_SHIM_H
#define BELFRY_CLINUX_SHIM_H

#include <malloc.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <sys/timerfd.h>
#include <time.h>

// Functions that glibc declares only with _GNU_SOURCE, which Swift's Glibc module doesn't define.
int syncfs(int descriptor);
int memfd_create(const char *name, unsigned int flags);
int pipe2(int ends[2], int flags);
int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *limit);
void *memmem(const void *haystack, size_t length, const void *needle, size_t needle_length);

// Returns the type of a path's file system (a magic number of linux/magic.h), or -1 on failure.
static inline long belfry_file_system(const char *path) {
  struct statfs system;
  return statfs(path, &system) == 0 ? (long)system.f_type : -1;
}

#endif

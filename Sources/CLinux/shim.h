#ifndef BELFRY_CLINUX_SHIM_H
#define BELFRY_CLINUX_SHIM_H

#include <locale.h>
#include <malloc.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/statfs.h>
#include <sys/timerfd.h>
#include <time.h>
#include <wchar.h>

// Functions that glibc declares only with _GNU_SOURCE, which Swift's Glibc module doesn't define.
int syncfs(int descriptor);
int memfd_create(const char *name, unsigned int flags);
int pipe2(int ends[2], int flags);
int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *limit);
void *memmem(const void *haystack, size_t length, const void *needle, size_t needle_length);
int wcwidth(wchar_t character);

// Returns the type of a path's file system (a magic number of linux/magic.h), or -1 on failure.
static inline long belfry_file_system(const char *path) {
  struct statfs system;
  return statfs(path, &system) == 0 ? (long)system.f_type : -1;
}

// Returns a locale with the system's table of Unicode characters, or NULL if the system lacks it.
static inline locale_t belfry_utf8_locale(void) {
  return newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

// Returns the width of a character on a terminal in columns, or -1 if the locale doesn't know it.
static inline int belfry_character_width(locale_t locale, unsigned int scalar) {
  locale_t previous = uselocale(locale);
  int width = wcwidth((wchar_t)scalar);
  uselocale(previous);
  return width;
}

#endif

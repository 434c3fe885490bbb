#ifndef BELFRY_CLINUX_SHIM_H
#define BELFRY_CLINUX_SHIM_H

#include <link.h>
#include <locale.h>
#include <malloc.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/timerfd.h>
#include <time.h>
#include <wchar.h>

// Functions that glibc declares only with _GNU_SOURCE, which Swift's Glibc module doesn't define.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int lowest);
int syncfs(int descriptor);
int memfd_create(const char *name, unsigned int flags);
int pipe2(int ends[2], int flags);
int renameat2(int old_folder, const char *old_path, int new_folder, const char *new_path, unsigned int flags);
int dup3(int old_descriptor, int new_descriptor, int flags);
void *memmem(const void *haystack, size_t length, const void *needle, size_t needle_length);
int wcwidth(wchar_t character);

// The flag of posix_spawn for a process in a session of its own. glibc names it only with _GNU_SOURCE.
static const short belfry_spawn_setsid = 0x80;

// Returns the type of a path's file system (a magic number of linux/magic.h), or -1 on failure.
static inline long belfry_file_system(const char *path) {
  struct statfs system;
  return statfs(path, &system) == 0 ? (long)system.f_type : -1;
}

// The beginning of struct dl_phdr_info.
struct belfry_loaded_file {
  ElfW(Addr) address;
  const char *name;
  const ElfW(Phdr) *headers;
  ElfW(Half) count;
};
int dl_iterate_phdr(int (*body)(struct belfry_loaded_file *, size_t, void *), void *data);

static inline int belfry_release_file(struct belfry_loaded_file *file, size_t size, void *page) {
  for (int number = 0; number < file->count; number++) {
    const ElfW(Phdr) *header = &file->headers[number];
    // Memory that relocations have changed is in writable segments, even if it was protected since.
    if (header->p_type != PT_LOAD || header->p_flags & PF_W) continue;
    size_t mask = (size_t)page - 1;
    size_t start = (file->address + header->p_vaddr) & ~mask;
    size_t end = (file->address + header->p_vaddr + header->p_filesz + mask) & ~mask;
    // The last page can also belong to the next segment.
    if (end - start > mask + 1) madvise((void *)start, end - start - mask - 1, MADV_DONTNEED);
  }
  return 0;
}

// Returns the memory with the code and the constants of the program and its libraries to the system. The system keeps it
// as a cache of the files, and maps the parts that are used again.
static inline void belfry_release_code(size_t page_size) {
  dl_iterate_phdr(belfry_release_file, (void *)page_size);
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

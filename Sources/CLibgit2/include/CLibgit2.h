#ifndef BELFRY_CLIBGIT2_H
#define BELFRY_CLIBGIT2_H

#include <git2.h>
#include <git2/sys/odb_backend.h>

// The file name of the library that has the interface of these headers.
#define BELFRY_LIBGIT2_FILE "libgit2.so." LIBGIT2_SOVERSION

// Loads the library. Afterwards, any thread can call the functions that libgit2.c defines. Call this function once.
// Returns a null pointer, or the reason for a failure, which the next call of dlopen or dlsym overwrites.
const char *belfry_libgit2_load(void);

// git_libgit2_opts is variadic, and Swift cannot call variadic functions. Option numbers must come from the header,
// because Debian's build uses other numbers than upstream.
int belfry_git_enable_fsync(int enabled);

// Makes libgit2 open repositories with the extensions of git that Belfry can handle.
int belfry_git_accept_extensions(void);

// An object database backend with a pointer for its callbacks.
typedef struct {
  git_odb_backend parent;
  void *context;
} belfry_odb_backend;

// Opens a database with only the packs of an objects folder, without its loose objects.
int belfry_git_open_packs(git_odb **database, const char *objects);

#endif

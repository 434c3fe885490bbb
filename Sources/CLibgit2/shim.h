#ifndef BELFRY_CLIBGIT2_SHIM_H
#define BELFRY_CLIBGIT2_SHIM_H

#include <git2.h>
#include <git2/sys/odb_backend.h>

// git_libgit2_opts is variadic, and Swift cannot call variadic functions. Option numbers must come from the header,
// because Debian's build uses other numbers than upstream.
static inline int belfry_git_enable_fsync(int enabled) {
  return git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, enabled);
}

// An object database backend with a pointer for its callbacks.
typedef struct {
  git_odb_backend parent;
  void *context;
} belfry_odb_backend;

// Opens a database with only the packs of an objects folder, without its loose objects.
static inline int belfry_git_open_packs(git_odb **database, const char *objects) {
  git_odb_backend *packs = NULL;
  int code = git_odb_new(database);
  if (code == 0) code = git_odb_backend_pack(&packs, objects);
  return code == 0 ? git_odb_add_backend(*database, packs, 1) : code;
}

#endif

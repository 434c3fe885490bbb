#ifndef BELFRY_CLIBGIT2_SHIM_H
#define BELFRY_CLIBGIT2_SHIM_H

#include <git2.h>

// git_libgit2_opts is variadic, which Swift cannot call. Option numbers always come from the
// header: Debian's build numbers some of them differently than upstream does.
static inline int belfry_git_enable_fsync(int enabled) {
  return git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, enabled);
}

#endif

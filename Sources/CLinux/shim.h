#ifndef BELFRY_CLINUX_SHIM_H
#define BELFRY_CLINUX_SHIM_H

// Linux calls that glibc declares for _GNU_SOURCE only, which Swift's Glibc module is not built with.
int syncfs(int descriptor);
int memfd_create(const char *name, unsigned int flags);

#endif

#ifndef BELFRY_CZLIB_SHIM_H
#define BELFRY_CZLIB_SHIM_H

#include <string.h>
#include <zlib.h>

// inflateInit is a macro, and Swift cannot call macros.
static inline int belfry_inflate_begin(z_stream *stream) {
  memset(stream, 0, sizeof *stream);
  return inflateInit(stream);
}

#endif

#ifndef BELFRY_CZLIB_SHIM_H
#define BELFRY_CZLIB_SHIM_H

#include <string.h>
#include <zlib.h>

// inflateInit and deflateInit are macros, and Swift cannot call macros.

static inline int belfry_inflate_begin(z_stream *stream) {
  memset(stream, 0, sizeof *stream);
  return inflateInit(stream);
}

static inline int belfry_deflate_begin(z_stream *stream, int level) {
  memset(stream, 0, sizeof *stream);
  return deflateInit(stream, level);
}

#endif

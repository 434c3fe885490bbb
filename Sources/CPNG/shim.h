#ifndef BELFRY_CPNG_SHIM_H
#define BELFRY_CPNG_SHIM_H

#include <png.h>

// libpng is loaded when an image is written, because few commands need it: the module links no library. The type of
// png_image_write_to_memory.
typedef int (*belfry_png_write)(
    png_imagep image, void *memory, png_alloc_size_t *size, int convert_to_8_bit,
    const void *buffer, png_int_32 row_stride, const void *colormap);

#endif

#ifndef BELFRY_CJANSSON_SHIM_H
#define BELFRY_CJANSSON_SHIM_H

#include <jansson.h>
#include <stdlib.h>

#endif

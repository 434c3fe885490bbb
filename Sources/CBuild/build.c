#include "CBuild.h"

// Package.swift defines the value, so that a new commit compiles only this file again.
const char *const belfry_build_commit = BELFRY_COMMIT;

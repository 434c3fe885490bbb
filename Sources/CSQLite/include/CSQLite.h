#ifndef BELFRY_CSQLITE_H
#define BELFRY_CSQLITE_H

#include <sqlite3.h>

// Loads the library. Afterwards, any thread can call the functions that sqlite.c defines. Call this function once.
// Returns a null pointer, or the reason for a failure, which the next call of dlopen or dlsym overwrites.
const char *belfry_sqlite_load(void);

// Binds a copy of some bytes, as a text or as a blob.
int belfry_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int count);
int belfry_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count);

#endif

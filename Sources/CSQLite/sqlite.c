// The functions of SQLite that Belfry calls. The library is loaded on first use, because some commands need none, and
// because Belfry works without it, only slower.

#include "CSQLite.h"
#include <dlfcn.h>

#define BELFRY_SQLITE_FILE "libsqlite3.so.0"

// Calls F for each function with its result, name, parameters and arguments. The compiler compares them with the
// declarations in SQLite's header.
#define BELFRY_SQLITE_FUNCTIONS(F) \
  F(int, sqlite3_bind_int64, (sqlite3_stmt *statement, int index, sqlite3_int64 value), (statement, index, value)) \
  F(int, sqlite3_busy_timeout, (sqlite3 *connection, int milliseconds), (connection, milliseconds)) \
  F(int, sqlite3_close, (sqlite3 *connection), (connection)) \
  F(const void *, sqlite3_column_blob, (sqlite3_stmt *statement, int column), (statement, column)) \
  F(int, sqlite3_column_bytes, (sqlite3_stmt *statement, int column), (statement, column)) \
  F(sqlite3_int64, sqlite3_column_int64, (sqlite3_stmt *statement, int column), (statement, column)) \
  F(int, sqlite3_exec, \
    (sqlite3 *connection, const char *sql, int (*callback)(void *, int, char **, char **), void *context, \
     char **message), \
    (connection, sql, callback, context, message)) \
  F(int, sqlite3_finalize, (sqlite3_stmt *statement), (statement)) \
  F(int, sqlite3_open_v2, \
    (const char *path, sqlite3 **connection, int flags, const char *vfs), \
    (path, connection, flags, vfs)) \
  F(int, sqlite3_prepare_v2, \
    (sqlite3 *connection, const char *sql, int count, sqlite3_stmt **statement, const char **tail), \
    (connection, sql, count, statement, tail)) \
  F(int, sqlite3_reset, (sqlite3_stmt *statement), (statement)) \
  F(int, sqlite3_step, (sqlite3_stmt *statement), (statement))

// A pointer to each function in the library, and a function of the same name that calls it.
#define DEFINE(result, name, parameters, arguments) \
  static __typeof__(name) *loaded_##name; \
  result name parameters { return loaded_##name arguments; }
BELFRY_SQLITE_FUNCTIONS(DEFINE)

static __typeof__(sqlite3_bind_text) *loaded_sqlite3_bind_text;
static __typeof__(sqlite3_bind_blob) *loaded_sqlite3_bind_blob;

const char *belfry_sqlite_load(void) {
  void *library = dlopen(BELFRY_SQLITE_FILE, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return dlerror();
#define RESOLVE(result, name, parameters, arguments) \
  loaded_##name = (__typeof__(name) *)dlsym(library, #name); \
  if (!loaded_##name) return dlerror();
  BELFRY_SQLITE_FUNCTIONS(RESOLVE)
  RESOLVE(int, sqlite3_bind_text, (), ())
  RESOLVE(int, sqlite3_bind_blob, (), ())
  __typeof__(sqlite3_initialize) *initialize = (__typeof__(sqlite3_initialize) *)dlsym(library, "sqlite3_initialize");
  // Otherwise the first connection does it, and the command waits.
  if (initialize) initialize();
  return 0;
}

// A null pointer would bind NULL.
int belfry_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return loaded_sqlite3_bind_text(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

int belfry_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  return loaded_sqlite3_bind_blob(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

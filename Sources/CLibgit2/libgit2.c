// The functions of libgit2 that Belfry calls. The library is loaded on first use: with the libraries that it needs, it
// would take most of the time of a command that opens no repository.

#include "CLibgit2.h"
#include <dlfcn.h>

// Calls F for each function with its result, name, parameters and arguments. The compiler compares them with the
// declarations in libgit2's headers.
#define BELFRY_LIBGIT2_FUNCTIONS(F) \
  F(void, git_commit_free, (git_commit *commit), (commit)) \
  F(int, git_commit_lookup, (git_commit **commit, git_repository *repo, const git_oid *id), (commit, repo, id)) \
  F(int, git_commit_tree, (git_tree **tree_out, const git_commit *commit), (tree_out, commit)) \
  F(int, git_config_delete_multivar, (git_config *cfg, const char *name, const char *regexp), (cfg, name, regexp)) \
  F(void, git_config_free, (git_config *cfg), (cfg)) \
  F(int, git_config_get_string, (const char **out, const git_config *cfg, const char *name), (out, cfg, name)) \
  F(void, git_config_iterator_free, (git_config_iterator *iter), (iter)) \
  F(int, git_config_iterator_new, (git_config_iterator **out, const git_config *cfg), (out, cfg)) \
  F(int, git_config_lock, (git_transaction **tx, git_config *cfg), (tx, cfg)) \
  F(int, git_config_next, (git_config_entry **entry, git_config_iterator *iter), (entry, iter)) \
  F(int, git_config_open_level, \
    (git_config **out, const git_config *parent, git_config_level_t level), \
    (out, parent, level)) \
  F(int, git_config_set_string, (git_config *cfg, const char *name, const char *value), (cfg, name, value)) \
  F(const git_error *, git_error_last, (void), ()) \
  F(int, git_error_set_str, (int error_class, const char *string), (error_class, string)) \
  F(int, git_graph_ahead_behind, \
    (size_t *ahead, size_t *behind, git_repository *repo, const git_oid *local, const git_oid *upstream), \
    (ahead, behind, repo, local, upstream)) \
  F(int, git_graph_descendant_of, \
    (git_repository *repo, const git_oid *commit, const git_oid *ancestor), \
    (repo, commit, ancestor)) \
  F(int, git_index_add, (git_index *index, const git_index_entry *source_entry), (index, source_entry)) \
  F(void, git_index_conflict_iterator_free, (git_index_conflict_iterator *iterator), (iterator)) \
  F(int, git_index_conflict_iterator_new, \
    (git_index_conflict_iterator **iterator_out, git_index *index), \
    (iterator_out, index)) \
  F(int, git_index_conflict_next, \
    (const git_index_entry **ancestor_out, const git_index_entry **our_out, const git_index_entry **their_out, \
     git_index_conflict_iterator *iterator), \
    (ancestor_out, our_out, their_out, iterator)) \
  F(int, git_index_conflict_remove, (git_index *index, const char *path), (index, path)) \
  F(size_t, git_index_entrycount, (const git_index *index), (index)) \
  F(void, git_index_free, (git_index *index), (index)) \
  F(int, git_index_has_conflicts, (const git_index *index), (index)) \
  F(int, git_index_read, (git_index *index, int force), (index, force)) \
  F(int, git_index_read_tree, (git_index *index, const git_tree *tree), (index, tree)) \
  F(int, git_index_remove, (git_index *index, const char *path, int stage), (index, path, stage)) \
  F(int, git_index_remove_bypath, (git_index *index, const char *path), (index, path)) \
  F(int, git_index_write, (git_index *index), (index)) \
  F(int, git_index_write_tree_to, (git_oid *out, git_index *index, git_repository *repo), (out, index, repo)) \
  F(int, git_libgit2_init, (void), ()) \
  F(int, git_merge_base, \
    (git_oid *out, git_repository *repo, const git_oid *one, const git_oid *two), \
    (out, repo, one, two)) \
  F(int, git_odb_add_backend, (git_odb *odb, git_odb_backend *backend, int priority), (odb, backend, priority)) \
  F(void *, git_odb_backend_data_alloc, (git_odb_backend *backend, size_t len), (backend, len)) \
  F(int, git_odb_backend_pack, (git_odb_backend **out, const char *objects_dir), (out, objects_dir)) \
  F(int, git_odb_exists_ext, (git_odb *db, const git_oid *id, unsigned int flags), (db, id, flags)) \
  F(void, git_odb_free, (git_odb *db), (db)) \
  F(int, git_odb_init_backend, (git_odb_backend *backend, unsigned int version), (backend, version)) \
  F(int, git_odb_new, (git_odb **out), (out)) \
  F(const void *, git_odb_object_data, (git_odb_object *object), (object)) \
  F(void, git_odb_object_free, (git_odb_object *object), (object)) \
  F(size_t, git_odb_object_size, (git_odb_object *object), (object)) \
  F(int, git_odb_read, (git_odb_object **out, git_odb *db, const git_oid *id), (out, db, id)) \
  F(int, git_odb_read_header, \
    (size_t *len_out, git_object_t *type_out, git_odb *db, const git_oid *id), \
    (len_out, type_out, db, id)) \
  F(int, git_reference_create, \
    (git_reference **out, git_repository *repo, const char *name, const git_oid *id, int force, const char \
     *log_message), \
    (out, repo, name, id, force, log_message)) \
  F(int, git_reference_create_matching, \
    (git_reference **out, git_repository *repo, const char *name, const git_oid *id, int force, const git_oid \
     *current_id, const char *log_message), \
    (out, repo, name, id, force, current_id, log_message)) \
  F(int, git_reference_delete, (git_reference *ref), (ref)) \
  F(void, git_reference_free, (git_reference *ref), (ref)) \
  F(void, git_reference_iterator_free, (git_reference_iterator *iter), (iter)) \
  F(int, git_reference_iterator_glob_new, \
    (git_reference_iterator **out, git_repository *repo, const char *glob), \
    (out, repo, glob)) \
  F(int, git_reference_list, (git_strarray *array, git_repository *repo), (array, repo)) \
  F(int, git_reference_lookup, (git_reference **out, git_repository *repo, const char *name), (out, repo, name)) \
  F(int, git_reference_name_to_id, (git_oid *out, git_repository *repo, const char *name), (out, repo, name)) \
  F(int, git_reference_next_name, (const char **out, git_reference_iterator *iter), (out, iter)) \
  F(int, git_reference_remove, (git_repository *repo, const char *name), (repo, name)) \
  F(const char *, git_reference_symbolic_target, (const git_reference *ref), (ref)) \
  F(const git_oid *, git_reference_target, (const git_reference *ref), (ref)) \
  F(int, git_remote_name_is_valid, (int *valid, const char *remote_name), (valid, remote_name)) \
  F(const char *, git_repository_commondir, (const git_repository *repo), (repo)) \
  F(int, git_repository_config, (git_config **out, git_repository *repo), (out, repo)) \
  F(int, git_repository_config_snapshot, (git_config **out, git_repository *repo), (out, repo)) \
  F(void, git_repository_free, (git_repository *repo), (repo)) \
  F(int, git_repository_index, (git_index **out, git_repository *repo), (out, repo)) \
  F(int, git_repository_init_ext, \
    (git_repository **out, const char *repo_path, git_repository_init_options *opts), \
    (out, repo_path, opts)) \
  F(int, git_repository_init_options_init, \
    (git_repository_init_options *opts, unsigned int version), \
    (opts, version)) \
  F(int, git_repository_odb, (git_odb **out, git_repository *repo), (out, repo)) \
  F(int, git_repository_open_ext, \
    (git_repository **out, const char *path, unsigned int flags, const char *ceiling_dirs), \
    (out, path, flags, ceiling_dirs)) \
  F(const char *, git_repository_path, (const git_repository *repo), (repo)) \
  F(int, git_repository_set_ident, (git_repository *repo, const char *name, const char *email), (repo, name, email)) \
  F(int, git_repository_state, (git_repository *repo), (repo)) \
  F(int, git_repository_state_cleanup, (git_repository *repo), (repo)) \
  F(void, git_revwalk_free, (git_revwalk *walk), (walk)) \
  F(int, git_revwalk_hide, (git_revwalk *walk, const git_oid *id), (walk, id)) \
  F(int, git_revwalk_new, (git_revwalk **out, git_repository *repo), (out, repo)) \
  F(int, git_revwalk_next, (git_oid *out, git_revwalk *walk), (out, walk)) \
  F(int, git_revwalk_push, (git_revwalk *walk, const git_oid *id), (walk, id)) \
  F(void, git_strarray_dispose, (git_strarray *array), (array)) \
  F(int, git_transaction_commit, (git_transaction *tx), (tx)) \
  F(void, git_transaction_free, (git_transaction *tx), (tx)) \
  F(void, git_tree_free, (git_tree *tree), (tree))

// A pointer to each function in the library, and a function of the same name that calls it.
#define DEFINE(result, name, parameters, arguments) \
  static __typeof__(name) *loaded_##name; \
  result name parameters { return loaded_##name arguments; }
BELFRY_LIBGIT2_FUNCTIONS(DEFINE)

static __typeof__(git_libgit2_opts) *loaded_git_libgit2_opts;

const char *belfry_libgit2_load(void) {
  void *library = dlopen(BELFRY_LIBGIT2_FILE, RTLD_LAZY | RTLD_LOCAL);
  if (!library) return dlerror();
#define RESOLVE(result, name, parameters, arguments) \
  loaded_##name = (__typeof__(name) *)dlsym(library, #name); \
  if (!loaded_##name) return dlerror();
  BELFRY_LIBGIT2_FUNCTIONS(RESOLVE)
  RESOLVE(int, git_libgit2_opts, (), ())
  return 0;
}

int belfry_git_enable_fsync(int enabled) {
  return loaded_git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, enabled);
}

int belfry_git_accept_extensions(void) {
  // In the lower case of git's configuration. Each of them leaves the parts that Belfry reads and writes as they are.
  const char *extensions[] = {"partialclone", "preciousobjects", "relativeworktrees", "worktreeconfig"};
  return loaded_git_libgit2_opts(
      GIT_OPT_SET_EXTENSIONS, extensions, sizeof(extensions) / sizeof(extensions[0]));
}

int belfry_git_open_packs(git_odb **database, const char *objects) {
  git_odb_backend *packs = 0;
  int code = git_odb_new(database);
  if (code == 0) code = git_odb_backend_pack(&packs, objects);
  return code == 0 ? git_odb_add_backend(*database, packs, 1) : code;
}

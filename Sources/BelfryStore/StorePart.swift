import BelfryCore
import Git

/// A part of a store's interface, such as `Store.sync` or `Store.history`.
protocol StorePart: Sendable {
  /// The store.
  var store: Store { get }
}

extension StorePart {
  var path: String { store.path }
  var context: StoreContext { store.context }
  var device: Identifier { store.device }
  var local: LocalState { store.local }

  /// Opens the git repository.
  func repository() throws(GitError) -> Repository { try store.repository() }
}

import BelfryCore

/// Foundation has a type of the same name.
typealias Notification = BelfryCore.Notification

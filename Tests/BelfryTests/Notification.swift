import BelfryScheduler

/// Foundation has a type of the same name.
typealias Notification = BelfryScheduler.Notification

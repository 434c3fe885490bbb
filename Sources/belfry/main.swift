import BelfryCommands

Invocation.run()

"""The promises of the store contract, one file a subject, each promise an executable sentence."""

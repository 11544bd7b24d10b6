"""What several commands share: options, where the memory is, what is printed, what is asked."""

"""What people write instead: short scripts without retries, reading back or a journal."""

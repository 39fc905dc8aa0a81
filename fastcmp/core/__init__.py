"""What every module may use: checks, records, reports, threads, progress, memory."""

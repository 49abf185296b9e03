"""An S3 server on this machine whose requests fail on demand: for `nbcc check --on s3`, tests and benchmarks."""

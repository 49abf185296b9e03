"""A local S3 server that can fail chosen requests, for `nbcc check --on s3`, tests and benchmarks."""

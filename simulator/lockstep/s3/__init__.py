"""A local S3 server that fails requests on demand, for `nbcc check --on s3`, tests and benchmarks."""

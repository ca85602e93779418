"""Settles what has to be settled before the first test imports gRPC."""

import os

# A test that starts a terminal forks. With gRPC's handlers of a fork, the child of a process that another test has
# left gRPC threads in can end before it has begun.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

"""Settles what has to be settled before the first test imports gRPC, or starts a process."""

import os
import signal

# A test that starts a terminal forks. With gRPC's handlers of a fork, the child of a process that another test has
# left gRPC threads in can end before it has begun.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

# A shell without job control has what it starts in the background ignore Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

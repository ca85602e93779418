"""A small research agent that runs without a network: its tools are mocks, its model follows a script."""

"""Worked numbers from published descriptions of agent evaluation: inputs and the right values."""

LATENCY_S = [1.8, 1.9, 2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 3.0, 3.1, 3.3, 3.6, 4.2, 7.8, 12.4, 41.0]

# id, completed, latency [ms], cost [USD], expected tools (None = no expectation), tools used
TASKS = [
    ("T-01", True, 1200, 0.001, ["calculator"], ["calculator"]),
    ("T-02", True, 2500, 0.003, ["web_search"], ["web_search"]),
    ("T-03", True, 4800, 0.005, ["web_search", "calculator"], ["web_search", "calculator"]),
    ("T-04", True, 800, 0.0005, None, []),
    ("T-05", False, 600, 0.0004, [], []),
    ("T-06", True, 5200, 0.006, ["web_search", "calculator"], ["web_search", "calculator"]),
    ("T-07", False, 300, 0.0002, None, []),
    ("T-08", True, 2100, 0.002, ["web_search"], ["web_search"]),
    ("T-09", True, 900, 0.0006, ["calculator"], ["calculator"]),
    ("T-10", True, 3800, 0.004, ["web_search"], ["web_search"]),
]

HISTORY = {
    "task_completion_rate": ([0.85, 0.87, 0.88, 0.86, 0.72], "higher", "regression"),
    "tool_call_accuracy": ([0.90, 0.92, 0.93, 0.91, 0.91], "higher", "ok"),
    "mean_latency_ms": ([2800, 2700, 2600, 2750, 4200], "lower", "regression"),
    "mean_cost_usd": ([0.0015, 0.0014, 0.0013, 0.0014, 0.0020], "lower", "regression"),
}

# Of each model: completion and accuracy as shares, latency in seconds, cost in dollars
MODELS = {
    "gpt-4o": (0.92, 0.95, 3.2, 0.0089),
    "gpt-4o-mini": (0.79, 0.833, 1.8, 0.0008),
    "gpt-4.1-mini": (0.87, 0.917, 2.1, 0.0014),
}
MODEL_SCORES = {
    "quality_first": {"gpt-4o": 0.8670, "gpt-4o-mini": 0.8538, "gpt-4.1-mini": 0.8952},
    "cost_first": {"gpt-4o": 0.8275, "gpt-4o-mini": 0.8995, "gpt-4.1-mini": 0.9121},
    "balanced": {"gpt-4o": 0.8501, "gpt-4o-mini": 0.8649, "gpt-4.1-mini": 0.8963},
}

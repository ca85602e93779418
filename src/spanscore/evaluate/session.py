"""What an evaluator finds when it runs: the macros of the house, beside the scoped tables."""

EVALUATOR_MACROS = (
    "json",
    "ratio",
    "words",
    "calls",
    "answers",
    "checks",
    "number_patterns",
    "numbers",
    "numbers_in",
    "urls",
    "quotes",
    "derivations",
    "grounding",
    "sources",
)
"""Files of `queries/macros` that evaluators and queries of users may call; each uses only earlier ones."""

"""Production traffic: scores what has changed, judges alert rules, tells others, on a schedule."""

-- Arithmetic that knows when there is nothing to say.

-- safe_ratio: numerator / denominator as a DOUBLE; NULL when the denominator is 0 or either is NULL.
create or replace temp macro safe_ratio(numerator, denominator) as numerator::double / nullif(denominator, 0)::double;

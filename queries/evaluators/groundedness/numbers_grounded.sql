-- /// evaluator
-- id = "numbers_grounded"
-- title = "Share of the numbers in the answer that the run had from somewhere"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["content", "tool_results"]
--
-- [params.min_characters]
-- type = "BIGINT"
-- unit = "count"
-- default = 3
-- doc = "Digits and decimal point that a number needs, together, to be a claim: 18.5 and 711 are claims, 9 is none."
--
-- [params.years]
-- type = "BOOLEAN"
-- default = false
-- doc = "Whether a bare 1900 to 2099 is a claim."
--
-- [params.strict]
-- type = "BOOLEAN"
-- default = false
-- doc = "Only results of tools and documents support a claim: not the question, not instructions, not a calculation."
-- ///
--
-- A claim is a number of the final answer; dates, times, versions, identifiers, addresses, list markers and code are none
-- (`numbers_in`). It is supported by a number of a source within half a unit of the claim's last digit, after scaling: 4.2
-- billion by 4200000000, 19.52% by 0.19524; 8,000 is not supported by 8,234. Else it may follow from two source or question
-- numbers in one step (+, -, x, /, change in percent): that is reported as derived and counts as supported.
-- NULL: there is no answer or no claim, or what the tools gave back was not captured whole. Not to be trusted for facts
-- that hold no number, or where the right number stands for the wrong thing.
with claims as (
    select run_id, number.*, coalesce(number.unit = 'percent', false) as is_percent,
        length(significant_digits(number.figures)) as digits
    from (select run_id, unnest(numbers_in(answer)) as number
        from (select run_id, left(final_answer, 50000) as answer from runs where final_answer is not null))
    where length(number.figures) >= $min_characters and ($years or not number.is_year)
),
targets as (
    select run_id, start, target.*
    from (
        select run_id, start,
            unnest(targets_of(sign, is_percent, abs(value), half_unit, figures, other_figures, factor)) as target
        from claims
    )
),
gathered as materialized (
    from numbers_near((select list(targets) from targets), $strict)
),
sources as (
    select distinct run_id, kind, number.*
    from (select run_id, near.kind, unnest(near.numbers) as number from (select run_id, unnest(near) as near from gathered))
),
matches as (
    select distinct targets.run_id, targets.start, sources.value, sources.is_percent
    from targets
    inner join sources on sources.run_id = targets.run_id and sources.is_percent = targets.in_percent
    where is_within(sources.value, targets.amount, targets.margin)
        and (targets.sign = 0 or targets.sign = sources.sign or targets.sign + sources.sign = 1)
        and (length(targets.figures) < 16 or significant_digits(targets.figures) = significant_digits(sources.figures))
),
unmatched as (
    select * from claims anti join matches using (run_id, start) where not $strict
),
quoted as (
    select run_id, list(distinct operand(value, is_percent)) as quoted
    from matches
    semi join (select * from sources where kind <> 'given' and value > 0) as sources using (run_id, value, is_percent)
    group by run_id
),
operands as (
    select run_id, operands_of(asked, quoted, found) as operands
    from gathered
    left join quoted using (run_id)
    where run_id in (select run_id from unmatched)
),
derivations as (
    from derivations_of((
        select list(struct_pack(run_id := run_id, start := start, value := value, half_unit := half_unit,
            digits := digits, is_percent := is_percent, operands := operands[:operand_limit(digits)]))
        from unmatched inner join operands using (run_id)
    ))
),
verdicts as (
    select claims.run_id, count(*) as claims, coalesce(list(struct_pack(text := text, start := start, "end" := "end")
            order by start) filter (where matches.run_id is null and derivations.run_id is null), []) as unsupported,
        coalesce(list(struct_pack(text := text, expression := expression) order by start)
            filter (where derivations.run_id is not null), []) as derived
    from claims
    left join (select distinct run_id, start from matches) as matches using (run_id, start)
    left join derivations using (run_id, start)
    group by claims.run_id
)
select
    runs.run_id,
    case when reason is null then safe_ratio(claims - len(unsupported), claims) end as score_value,
    reason as not_applicable_reason,
    case when reason is null
        then format('{} of {} in the answer are supported{}.', claims - len(unsupported), things(claims, 'number'),
        if(len(unsupported) > 0, '; not found: ' || list_aggregate(list_transform(unsupported, lambda claim: claim.text),
            'string_agg', ', '), '')) end as explanation,
    case when reason is null then to_json(struct_pack(claims := claims, unsupported := unsupported, derived := derived)) end
        as evidence
from (
    select runs.run_id, verdicts.* exclude (run_id), ungroundable(runs, verdicts.claims, missing.reason, $strict) as reason
    from runs
    left join verdicts using (run_id)
    left join (from missing_sources()) as missing using (run_id)
) as runs;

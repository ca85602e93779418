-- /// evaluator
-- id = "tool_arguments_match"
-- title = "Share of the expected calls that were made, arguments compared"
-- grain = "run"
-- unit = "ratio"
-- better = "higher"
-- needs = ["case", "content"]
--
-- [params.mode]
-- type = "VARCHAR"
-- default = "exact"
-- doc = "exact or subset, for expected calls that do not say: no other arguments than the expected ones, or at least these."
--
-- [params.most_patterns]
-- type = "BIGINT"
-- unit = "count"
-- default = 12
-- doc = "Cases with more different subset calls of one tool are not scored: the work doubles with each."
-- ///
--
-- The calls need no order, and one call that was made serves one expected call, by the best assignment there is. Arguments are
-- compared as JSON: order of keys aside, 1 = 1.0, true is not 1, "5" is not 5, a string that holds an object is that object.
-- Calls beyond the expected ones do not count (`tool_precision`, `tool_set_match`).
-- NULL: no case or no expected calls; a model asked for tools and the trace shows none, or the arguments of none.
with wanted as (
    select
        run_id,
        call ->> '$.tool' as tool_name,
        coalesce(call ->> '$.mode', $mode) = 'subset' as is_loose,
        argument_pairs(json_extract(call, '$.arguments')) as pairs,
        count(*) as n
    from (select run_id, unnest(json_items(expected_calls)) as call from cases)
    group by all
),
patterns as (
    select *, least(row_number() over (partition by run_id, tool_name, is_loose order by pairs), 62) - 1 as bit
    from wanted
),
made as (
    select run_id, tool_name, argument_pairs(arguments) as pairs, count(*) as n, count(arguments) as n_captured
    from tool_calls
    where (run_id, tool_name) in (select (run_id, tool_name) from wanted)
    group by all
),
-- Which subset patterns of its tool a call fits, as bits.
masked as (
    select made.*, coalesce(bit_or(1::bigint << patterns.bit), 0) as mask
    from made
    left join patterns on patterns.run_id = made.run_id and patterns.tool_name = made.tool_name
        and patterns.is_loose and pairs_fit(patterns.pairs, made.pairs, 'subset')
    group by all
),
calls as (
    select run_id, tool_name, list({'mask': mask, 'n': n}) as made, sum(n)::bigint as n, sum(n_captured)::bigint as n_captured
    from masked
    group by run_id, tool_name
),
per_tool as (
    select
        patterns.run_id,
        patterns.tool_name,
        sum(patterns.n)::bigint as n,
        bool_or(len(patterns.pairs) > 0) as has_arguments,
        count(*) filter (where patterns.is_loose) as n_loose,
        list({'bit': patterns.bit, 'n': patterns.n}) filter (where patterns.is_loose) as loose,
        list({'n': patterns.n, 'made': coalesce(masked.n, 0), 'mask': coalesce(masked.mask, 0)})
            filter (where not patterns.is_loose) as exact
    from patterns
    left join masked on masked.run_id = patterns.run_id and masked.tool_name = patterns.tool_name
        and masked.pairs = patterns.pairs and not patterns.is_loose
    group by patterns.run_id, patterns.tool_name
),
-- Hall's theorem: the best assignment leaves over what a set of expected calls has in excess of the calls that fit any of it,
-- for the set with the largest excess. Of the exact calls each decides for itself whether it makes the excess larger.
assigned as (
    select
        per_tool.run_id,
        sum(per_tool.n)::bigint as expected,
        max(n_loose) as n_loose,
        bool_or(has_arguments) and sum(calls.n) > 0 and sum(calls.n_captured) = 0 as is_uncaptured,
        sum(per_tool.n - list_max(list_transform(
            range(1::bigint << least(n_loose, $most_patterns)),
            lambda chosen:
                coalesce(list_sum(list_transform(loose, lambda p: if(chosen & (1::bigint << p.bit) <> 0, p.n, 0))), 0)
                - coalesce(list_sum(list_transform(calls.made, lambda c: if(chosen & c.mask <> 0, c.n, 0))), 0)
                + coalesce(list_sum(list_transform(
                    exact, lambda e: greatest(0, e.n - if(chosen & e.mask <> 0, 0, e.made)))), 0)
        )))::bigint as met
    from per_tool
    left join calls using (run_id, tool_name)
    group by per_tool.run_id
),
unseen as (
    select run_id from llm_calls where finish_reason = 'tool_calls'
    except (select run_id from tool_calls union all select run_id from tool_requests)
),
judged as (
    select runs.run_id, assigned.expected, assigned.met,
        case
            when cases.run_id is null then 'no_case'
            when assigned.run_id is null then 'no_expectation'
            when unseen.run_id is not null then 'tool_calls_not_captured'
            when assigned.is_uncaptured then 'content_not_captured'
            when assigned.n_loose > $most_patterns then 'too_many_expected_calls'
            when $mode not in ('exact', 'subset') then 'unknown_mode'
        end as reason
    from runs
    left join cases using (run_id)
    left join assigned using (run_id)
    left join unseen using (run_id)
)
select
    run_id,
    case when reason is null then safe_ratio(met, expected) end as score_value,
    reason as not_applicable_reason,
    case when reason is null then format('{} of {} were made.', met, things(expected, 'expected call')) end as explanation,
    case when reason is null then to_json({'met': met, 'expected': expected}) end as evidence
from judged;

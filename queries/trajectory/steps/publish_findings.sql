-- What a reader should know before believing a trace's figures.
insert into findings by name
select run_id, trace_id, span_id, 'orphan_span' as kind, 'The parent of span ' || name || ' is not in the store' as detail
from run_spans
where is_orphan
union all
select run_id, trace_id, span_id, 'unfinished_span', 'Span ' || name || ' has no end'
from run_spans
where end_ns = 0
union all
select run_id, trace_id, span_id, 'missing_token_usage', 'LLM call ' || name || ' reports no token usage'
from batch_llm_calls
where status = 'ok' and input_tokens is null and output_tokens is null
    and s not in (select s from unusable_columns where list_has_any(columns, ['input_tokens', 'output_tokens']))
union all
select
    any_value(span_runs.run_id), any_value(batch_spans.trace_id), any_value(batch_spans.span_id), 'unusable_value',
    'Span ' || any_value(batch_spans.name) || ' reports '
        || string_agg(unusable_values.column_name || ' ' || unusable_values.value[1:40], ', ' order by unusable_values.column_name)
        || ': no count, cost or time that can be, and unknown here'
from unusable_values
inner join batch_spans using (s)
left join span_runs using (s)
group by batch_spans.s
union all
select run_id, trace_id, llm_call_id, 'unpriced_call',
    'No price for model ' || coalesce(response_model, request_model, '(none)') || ': ' || coalesce(unpriced_reason, 'unknown')
from llm_calls
where trace_id in (select trace_id from batch_traces) and cost_usd is null and status = 'ok'
union all
select run_id, trace_id, span_id, 'usage_mismatch',
    'The top span reports ' || input_tokens || ' input tokens, its own LLM calls ' || coalesce(own_tokens, 0)
    || ', those of the run ' || run_tokens
from reported_totals
where abs(input_tokens - run_tokens) > 0.01 * input_tokens
    and abs(input_tokens - coalesce(own_tokens, 0)) > 0.01 * input_tokens
union all
select run_id, trace_id, null, 'unmatched_tool_call',
    'The model asked for ' || tool_name || ' and no execution or result of it is in the trace'
from tool_requests
where trace_id in (select trace_id from batch_traces) and outcome = 'no_result' and not is_handoff
union all
select run_id, trace_id, null, 'content_missing', 'No message, argument or result was captured'
from runs
where trace_id in (select trace_id from batch_traces) and not has_content
union all
select
    any_value(span_runs.run_id), batch_spans.trace_id, min(batch_spans.span_id), 'unrecognised_spans',
    count(*) || if(count(*) = 1, ' span', ' spans') || ' of scope ' || batch_spans.scope_name
        || if(count(*) = 1, ' says', ' say') || ' nothing that is known about agents'
from batch_spans
inner join span_class using (s)
inner join span_facts using (s)
left join span_runs using (s)
where span_class.class = 'other' and span_facts.trial_outcome is null
group by batch_spans.trace_id, batch_spans.scope_name
union all
select
    any_value(span_runs.run_id), any_value(opened.trace_id), any_value(opened.span_id), 'cycle',
    case when count(*) = 1 then 'Span ' || any_value(opened.span_id) || ' is its own parent: it counts as a root'
        else count(*) || ' spans are each other''s ancestors: '
            || array_to_string(list(batch_spans.span_id order by cycles.s)[1:20], ', ') || case when count(*) > 20 then ', …' else '' end
            || '. The earliest, ' || any_value(opened.span_id) || ', counts as a root'
    end
from cycles
inner join batch_spans using (s)
inner join batch_spans as opened on opened.s = cycles.root
left join span_runs on span_runs.s = cycles.root
group by cycles.root
union all
select null, batch_spans.trace_id, batch_spans.span_id, 'too_deep',
    'Span ' || batch_spans.name || ' lies more than 10,000 levels deep and is part of no run'
from batch_spans
where s not in (select s from span_tree)
union all
select
    span_runs.run_id, told.trace_id, told.span_id, 'span_problem',
    case told.problem
        when 'truncated_value'
            then 'A value of span ' || told.name || ', or of what it belongs to, was too long: only its beginning was kept'
        when 'end_before_start' then 'Span ' || told.name || ' ends before it starts: its duration is unknown'
        when 'no_start_time' then 'Span ' || told.name || ' has no start: its duration is unknown'
        else 'An integer of span ' || told.name || ', or of what it belongs to, does not fit its field: an attribute is kept as a double,'
            || ' anything else counts as not sent'
    end
from (
    select batch_spans.s, batch_spans.trace_id, batch_spans.span_id, batch_spans.name, unnest(list_distinct(raw_spans.problems)) as problem
    from batch_spans
    inner join raw_spans on raw_spans.rowid = batch_spans.place
    where raw_spans.problems is not null
) as told
left join span_runs on span_runs.s = told.s
where told.problem in ('truncated_value', 'end_before_start', 'no_start_time', 'integer_out_of_range');

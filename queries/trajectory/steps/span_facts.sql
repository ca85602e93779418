-- One value per span and canonical column: the first source in order of priority that says something. What a source says is
-- worked out once: the aggregate passes over NULL, where a filter would work it out again.
create or replace temp table span_values as
with readings as (
    select
        batch_attributes.s,
        attribute_map.column_name,
        attribute_map.priority + batch_attributes.rank as priority,
        case
            when attribute_map.path is null then batch_attributes.value
            when attribute_map.path[1:1] = '~' then pattern_text(batch_attributes.value, attribute_map.path)
            else json_text(json_extract(as_json(batch_attributes.value), attribute_map.path))
        end as text,
        attribute_map.unit
    from batch_attributes
    inner join attribute_map using (key)
    where attribute_map.scope is null or starts_with(batch_attributes.scope_name, attribute_map.scope)
),
chosen as (
    select
        s,
        column_name,
        arg_min(
            case
                when unit = 'ms' then coalesce((try_cast(meaningful(text) as double) / 1000)::varchar, meaningful(text))
                when text = '{}' and column_name = 'tool_arguments' then text
                else meaningful(text)
            end,
            priority
        ) as value
    from readings
    group by s, column_name
)
from chosen
where value is not null;

-- What was written where a count, a cost or a time belongs and is none (below 0, too large, no number): unknown in every later
-- step, as if nothing had been written, which it is told apart from.
create or replace temp table unusable_values as
select s, column_name, value
from span_values
inner join (
    select distinct column_name, unit from attribute_map where unit in ('tokens', 'usd', 's')
) using (column_name)
where case when unit = 'tokens' then as_tokens(value) is null else as_amount(value) is null end
union all
select s, 'time_to_first_chunk_s', value
from span_values
inner join batch_spans using (s)
where column_name = 'first_chunk_at'
    and coalesce(epoch_ns(try_cast(value as timestamptz)) < batch_spans.start_ns::hugeint, true);

-- Keys with numbers in them, and the objects that hold tool definitions, are read by later steps; the rest is done with.
create or replace temp table flat_attributes as
select s, key, value
from batch_attributes
where regexp_matches(key, '^(llm\.(in|out)put_messages|gen_ai\.(prompt|completion)|retrieval\.documents|llm\.tools)\.[0-9]+\.')
    or key in ('langfuse.observation.input', 'mlflow.spanInputs', 'llm.invocation_parameters') and contains(value, '"tools"');

drop table batch_attributes;

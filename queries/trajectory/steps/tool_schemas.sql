-- The tools that each run's models were offered, with the arguments each one requires and allows: what makes a request
-- valid. From tool definitions on LLM, agent or tool spans, in any of the shapes that SDKs write.
create or replace temp table tool_schemas as
with documents as (
    select span_runs.run_id, as_json(span_facts.tool_definitions) as document
    from span_facts
    inner join span_runs using (s)
    where span_facts.tool_definitions is not null
    union all
    select span_runs.run_id, json_extract(as_json(coalesce(flat_attributes.value)), '$.tools')
    from flat_attributes
    inner join span_runs using (s)
    where flat_attributes.key in ('langfuse.observation.input', 'mlflow.spanInputs', 'llm.invocation_parameters')
        and contains(flat_attributes.value, '"tools"')
    union all
    select span_runs.run_id, json_array(as_json(flat_attributes.value))
    from flat_attributes
    inner join span_runs using (s)
    where regexp_matches(flat_attributes.key, '^llm\.tools\.[0-9]+\.tool\.json_schema$')
    union all
    select span_runs.run_id, json_array(json_object('name', span_facts.tool_name, 'parameters', as_json(span_facts.tool_schema)))
    from span_facts
    inner join span_runs using (s)
    where json_type(as_json(span_facts.tool_schema), '$.properties') = 'OBJECT' and span_facts.tool_name is not null
),
items as (
    select distinct
        run_id,
        case when json_type(item) = 'VARCHAR' then coalesce(as_json(item ->> '$'), item) else item end as item
    from (select run_id, unnest(json_items(document)) as item from documents)
),
shaped as (
    select
        run_id,
        case when json_type(item) = 'VARCHAR' then item ->> '$' else coalesce(item ->> '$.function.name', item ->> '$.name') end as name,
        coalesce(item -> '$.function.parameters', item -> '$.parameters', item -> '$.inputSchema', item -> '$.input_schema',
            item -> '$.parameters_json_schema', item -> '$.json_schema') as schema
    from items
)
select
    run_id,
    name as tool_name,
    bool_or(schema is not null) as has_schema,
    any_value((schema ->> '$.required')::varchar[]) as required,
    any_value(json_keys(schema -> '$.properties')) as properties
from shaped
where name is not null
group by run_id, name;

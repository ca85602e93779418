-- Every part of every message that an LLM, agent, workflow or root span carries. One source per span and direction:
-- attributes first, then events and log records, then flattened attributes.
create or replace temp table message_spans as
select batch_spans.s, span_class.class
from batch_spans
inner join span_class using (s)
where span_class.class in ('llm', 'agent', 'workflow') or batch_spans.parent is null and span_class.class in ('node', 'other');

create or replace temp table raw_messages as
with documents as (
    select
        s,
        direction,
        value,
        as_json(value) as document
    from (
        select s, 'input' as direction, input_messages as value from span_facts semi join message_spans using (s)
        union all
        select s, 'output', output_messages from span_facts semi join message_spans using (s)
        union all
        select s, 'system', system_instructions from span_facts semi join message_spans using (s)
        union all
        select
            s,
            'output',
            json_object('role', 'assistant', 'content', output_text, 'tool_calls', as_json(output_tool_calls))::varchar
        from span_facts
        semi join message_spans using (s)
        where output_messages is null and (output_text is not null or output_tool_calls is not null)
    ) as source
    where value is not null
),
listed as (
    select
        s,
        direction,
        coalesce(
            message_array(case when json_type(document) = 'VARCHAR' then coalesce(as_json(document ->> '$'), document)
                else document end),
            case
                when not is_object_notation(plain_answer(document)) then [to_json(plain_answer(document))]
                -- A document that holds no message is no text; neither is an object that only a program can read.
                when document is null and not is_object_notation(value) then [to_json(value)]
            end
        ) as messages,
        document
    from (
        select s, direction, value, case when document is null and is_object_notation(value) then notation_messages(value) else document end
            as document
        from documents
    ) as readable
),
unnested as (
    select
        s,
        direction,
        case when json_type(message) = 'VARCHAR' and is_object_notation(message ->> '$')
            then coalesce(notation_message(message ->> '$'), message) else message end as message,
        position
    from (
        select s, direction, unnest(messages) as message, generate_subscripts(messages, 1) as position
        from listed
        where len(messages) > 0
    ) as item
),
chosen as (
    select
        s,
        direction,
        position,
        message,
        0 as piece,
        message_role(message) as role,
        null::varchar as tool_call_id
    from unnested
    union all
    select event_messages.s, direction, position, to_json(message), piece, role, tool_call_id
    from event_messages
    semi join message_spans using (s)
    where (event_messages.s, event_messages.direction) not in (select (s, direction) from unnested)
)
select
    s,
    direction,
    position::integer as position,
    piece,
    message_body(message) as body,
    coalesce(role, case direction when 'output' then 'assistant' when 'system' then 'system' else 'user' end) as role,
    tool_call_id
from chosen;

create or replace temp table message_parts as
with parts as (
    select
        s, direction, position, piece, role, tool_call_id, body,
        unnest(message_parts_of(body)) as part,
        generate_subscripts(message_parts_of(body), 1) as part_index
    from raw_messages
),
read as (
    select
        s, direction, position, piece, role, body, part, part_index,
        case
            when part_kind(part) = 'text' and role = 'tool' then 'tool_call_response'
            else part_kind(part)
        end as part_type,
        tool_call_id
    from parts
)
select
    s,
    direction,
    position,
    (1000 * piece + part_index - 1)::integer as part_index,
    case when part_type = 'tool_call_response' then 'tool' else role end as role,
    part_type,
    case when part_type in ('text', 'reasoning') then part_text(part) end as text,
    case
        when part_type in ('tool_call', 'tool_call_response') then coalesce(
            part_call_id(part), body ->> '$.tool_call_id', body ->> '$.call_id', tool_call_id,
            case when role = 'tool' then body ->> '$.id' end
        )
    end as tool_call_id,
    case
        when part_type = 'tool_call' then part_tool_name(part)
        when part_type = 'tool_call_response' then coalesce(part_tool_name(part), body ->> '$.name')
    end as tool_name,
    case when part_type = 'tool_call' then part_arguments(part) end as arguments,
    case
        when part_type = 'tool_call_response' then
            case when part_kind(part) = 'text' then part_text(part) else part_response(part) end
    end as response,
    part_type = 'tool_call_response' and (
        (json_type(part) = 'OBJECT' and part_is_error(part)) or coalesce(body ->> '$.status', '') = 'error'
    ) as is_error
from read
where part_type <> 'text' or part_text(part) is not null;

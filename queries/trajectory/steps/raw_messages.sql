-- The messages in the documents that spans carry, one source per span and direction: attributes first, then events and log
-- records. A step at a time, each into a table, so that no text is parsed twice.
create or replace temp table message_spans as
select batch_spans.s, span_class.class
from batch_spans
inner join span_class using (s)
where span_class.class in ('llm', 'agent', 'workflow') or batch_spans.parent is null and span_class.class in ('node', 'other');

create or replace temp table message_documents as
with sources as (
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
)
select
    s,
    direction,
    value,
    case
        when value[1:1] in ('[', '{', '"', ' ', chr(10)) then coalesce(
            as_json(value),
            case when is_object_notation(value) then notation_messages(value) end
        )
        when is_object_notation(value) then notation_messages(value)
    end as document
from sources
where value is not null;

-- A document in a JSON string is the document.
update message_documents
set document = as_json(document ->> '$')
where document[1:1] = '"' and as_json(document ->> '$') is not null;

create or replace temp table message_lists as
select s, direction, value, document, message_array(document) as messages
from message_documents;

-- A document that holds no message is a text, an object around one text, or something that only a program can read.
update message_lists
set messages = case
    when document is null then case when not is_object_notation(value) then [to_json(value)] end
    when not is_object_notation(plain_answer(document)) then [to_json(plain_answer(document))]
end
where messages is null;

create or replace temp table raw_messages as
with unnested as (
    select s, direction, unnest(messages) as message, generate_subscripts(messages, 1) as position
    from message_lists
    where len(messages) > 0
),
chosen as (
    select
        s,
        direction,
        position,
        0 as piece,
        case
            when message[1:1] = '"' and is_object_notation(message ->> '$') then coalesce(notation_message(message ->> '$'), message)
            else message
        end as message,
        null::varchar as role,
        null::varchar as tool_call_id
    from unnested
    union all
    select event_messages.s, direction, position, piece, to_json(message), role, tool_call_id
    from event_messages
    semi join message_spans using (s)
    where (event_messages.s, event_messages.direction) not in (select (s, direction) from unnested)
)
select
    s,
    direction,
    position::integer as position,
    piece,
    message,
    role,
    tool_call_id,
    case when message[1:1] = '{' then message_fields(message) end as fields
from chosen;

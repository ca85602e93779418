-- The messages in the documents that spans carry: a list per span and direction. One statement, so that a text passes from
-- column to column without being stored in between.
create or replace temp table message_spans as
select batch_spans.s, span_class.class
from batch_spans
inner join span_class using (s)
where span_class.class in ('llm', 'agent', 'workflow') or batch_spans.parent is null and span_class.class in ('node', 'other');

create or replace temp table message_lists as
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
),
parsed as (
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
    where value is not null
),
-- A document in a JSON string is the document.
opened as (
    select * replace (case when document[1:1] = '"' then coalesce(as_json(document ->> '$'), document) else document end as document)
    from parsed
),
found as (
    select s, direction, value, document, message_array(document) as messages
    from opened
)
select
    s,
    direction,
    -- A document that holds no message is a text, an object around one text, or something that only a program can read.
    case
        when messages is not null then messages
        when document is null then case when not is_object_notation(value) and not is_cut_json(value) then [to_json(value)] end
        when not is_object_notation(plain_answer(document)) then [to_json(plain_answer(document))]
    end as messages
from found;

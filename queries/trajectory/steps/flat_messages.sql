-- Messages flattened into attribute keys: llm.input_messages.N.message.… (OpenInference) and gen_ai.prompt.N.… (older
-- OpenLLMetry). Added only where the span has no messages from any other source for that direction, except that these win
-- over the dump of a whole SDK object (`input.value`, `output.value`).
create or replace temp table flat_parts as
with keyed as (
    select
        s,
        case when key like 'llm.input%' or key like 'gen_ai.prompt.%' then 'input' else 'output' end as direction,
        regexp_extract(key, '^(?:llm\.(?:in|out)put_messages|gen_ai\.(?:prompt|completion))\.([0-9]+)\.(?:message\.)?(.+)$',
            ['position', 'field']) as place,
        value
    from flat_attributes
    where regexp_matches(key, '^(llm\.(in|out)put_messages|gen_ai\.(prompt|completion))\.[0-9]+\.')
),
fields as (
    select
        s,
        direction,
        place.position::integer as position,
        coalesce(nullif(regexp_extract(place.field, '^(?:tool_calls|contents?|function)\.([0-9]+)', 1), '')::integer, -1) as item,
        case
            when place.field like 'tool\_calls.%' escape '\' then 'call'
            when regexp_matches(place.field, '^function\.[0-9]+$') then 'result'
            when place.field like 'content%.%' then 'content'
            else 'message'
        end as kind,
        regexp_replace(place.field, '^(tool_calls|contents?)\.[0-9]+\.(tool_call\.|message_content\.)?(function\.)?', '') as field,
        value
    from keyed
),
messages as (
    select
        s,
        direction,
        position,
        coalesce(role_word(lower(max(value) filter (where field = 'role'))),
            case direction when 'input' then 'user' else 'assistant' end) as role,
        max(value) filter (where field = 'content') as content,
        max(value) filter (where field in ('tool_call_id', 'id')) as tool_call_id,
        max(value) filter (where field = 'name') as name
    from fields
    where kind = 'message'
    group by s, direction, position
),
items as (
    select
        s,
        direction,
        position,
        item,
        kind,
        max(value) filter (where field = 'id') as id,
        max(value) filter (where field = 'name') as name,
        max(value) filter (where field in ('arguments', 'function.arguments')) as arguments,
        max(value) filter (where field = 'text') as text,
        max(value) filter (where field = 'type') as type
    from fields
    where kind in ('call', 'content')
    group by s, direction, position, item, kind
)
select
    s,
    direction,
    position,
    0 as part_index,
    role,
    case when role = 'tool' then 'tool_call_response' else 'text' end as part_type,
    case when role <> 'tool' then content end as text,
    case when role = 'tool' then tool_call_id end as tool_call_id,
    case when role = 'tool' then name end as tool_name,
    null::varchar as arguments,
    case when role = 'tool' then content end as response,
    false as is_error
from messages
-- The text of a message may stand there a second time as its only content item.
where meaningful(content) is not null and (s, direction, position) not in (
    select (s, direction, position) from items where kind = 'content' and text is not null
)
union all
select
    items.s,
    items.direction,
    items.position,
    items.item + case items.kind when 'content' then 100 else 200 end,
    messages.role,
    case when items.kind = 'call' then 'tool_call' when messages.role = 'tool' then 'tool_call_response' else 'text' end,
    case when items.kind = 'content' and messages.role <> 'tool' then items.text end,
    case when items.kind = 'call' then items.id when messages.role = 'tool' then messages.tool_call_id end,
    case when items.kind = 'call' then items.name when messages.role = 'tool' then messages.name end,
    items.arguments,
    case when items.kind = 'content' and messages.role = 'tool' then items.text end,
    false
from items
left join messages using (s, direction, position)
where items.kind = 'call' or items.text is not null
union all
-- AutoGen: the results that one message brings, each an object.
select
    s,
    direction,
    position,
    item + 300,
    'tool',
    'tool_call_response',
    null,
    as_json(value) ->> '$.call_id',
    as_json(value) ->> '$.name',
    null,
    as_json(value) ->> '$.content',
    coalesce(as_json(value) ->> '$.is_error', '') = 'true'
from fields
where kind = 'result' and as_json(value) is not null;

-- Flattened results lose the mark of an error that the document has.
update flat_parts
set is_error = true
from message_parts
where message_parts.s = flat_parts.s and message_parts.tool_call_id = flat_parts.tool_call_id and message_parts.is_error
    and flat_parts.part_type = 'tool_call_response';

delete from message_parts
where (s, direction) in (select (s, direction) from flat_parts)
    and s in (select s from span_class where class = 'llm');

insert into message_parts by name
select flat_parts.*
from flat_parts
inner join message_spans using (s)
inner join span_facts using (s)
where (s, direction) not in (select (s, direction) from message_parts)
    -- Beside the document of a whole step, cut off or not, emitters flatten only its first message.
    and (message_spans.class = 'llm'
        or case flat_parts.direction when 'input' then span_facts.input_messages else span_facts.output_messages end is null);

-- Reading one part of a message, whatever the dialect calls its fields.

-- part_kind: text, reasoning, tool_call, tool_call_response, or the emitter's own word.
create or replace temp macro part_kind(part) as
    case
        when json_type(part) = 'VARCHAR' then 'text'
        when lower(part ->> '$.type') in ('text', 'input_text', 'output_text', 'message') then 'text'
        when lower(part ->> '$.type') in ('reasoning', 'thinking', 'redacted_thinking') then 'reasoning'
        when coalesce(json_type(part, '$.function_response'), json_type(part, '$.functionResponse'),
            json_type(part, '$.toolResult')) in ('OBJECT') then 'tool_call_response'
        when coalesce(json_type(part, '$.function_call'), json_type(part, '$.functionCall'),
            json_type(part, '$.toolUse')) in ('OBJECT') then 'tool_call'
        when lower(part ->> '$.type') in ('tool_call_response', 'tool-result', 'tool_result', 'function_call_output',
            'server_tool_call_response', 'mcp_tool_result') then 'tool_call_response'
        when lower(part ->> '$.type') in ('tool_call', 'tool-call', 'tool_use', 'function_call', 'function', 'server_tool_call',
            'server_tool_use', 'mcp_tool_use') then 'tool_call'
        when json_type(part, '$.function') = 'OBJECT' or coalesce(json_type(part, '$.args'), json_type(part, '$.arguments'),
            json_type(part, '$.input')) is not null and coalesce(json_type(part, '$.name'), json_type(part, '$.toolName'),
            json_type(part, '$.tool_name')) is not null then 'tool_call'
        when json_type(part, '$.text') = 'VARCHAR' then 'text'
        else coalesce(lower(part ->> '$.type'), lower(part ->> '$.block_type'), 'other')
    end;

-- part_text: what a text or reasoning part says.
create or replace temp macro part_text(part) as
    case
        when json_type(part) = 'VARCHAR' then part ->> '$'
        else coalesce(
            case when json_type(part, '$.content') = 'VARCHAR' then part ->> '$.content' end,
            case when json_type(part, '$.text') = 'VARCHAR' then part ->> '$.text' end,
            case when json_type(part, '$.reasoning') = 'VARCHAR' then part ->> '$.reasoning' end,
            case when json_type(part, '$.thinking') = 'VARCHAR' then part ->> '$.thinking' end,
            part ->> '$.content[0].text'
        )
    end;

-- part_call_id, part_tool_name, part_arguments: of a tool call; the id and name also of a response.
create or replace temp macro part_call_id(part) as
    meaningful(coalesce(
        part ->> '$.call_id', part ->> '$.id', part ->> '$.toolCallId', part ->> '$.tool_call_id', part ->> '$.tool_use_id',
        part ->> '$.toolUse.toolUseId', part ->> '$.toolResult.toolUseId', part ->> '$.function_call.id',
        part ->> '$.function_response.id', part ->> '$.functionCall.id', part ->> '$.functionResponse.id'
    ));
create or replace temp macro part_tool_name(part) as
    coalesce(
        part ->> '$.function.name', part ->> '$.name', part ->> '$.toolName', part ->> '$.tool_name',
        part ->> '$.toolUse.name', part ->> '$.function_call.name', part ->> '$.function_response.name',
        part ->> '$.functionCall.name', part ->> '$.functionResponse.name'
    );
create or replace temp macro part_arguments(part) as
    json_text(coalesce(
        part -> '$.function.arguments', part -> '$.arguments', part -> '$.args', part -> '$.input', part -> '$.tool_kwargs',
        part -> '$.toolUse.input', part -> '$.function_call.args', part -> '$.functionCall.args'
    ));

-- part_response: the result that a response part carries, out of its envelope.
create or replace temp macro part_response(part) as
    json_text(coalesce(
        case when json_type(part, '$.output.value') is not null then part -> '$.output.value' end,
        part -> '$.response', part -> '$.result', part -> '$.output', part -> '$.toolResult.content',
        part -> '$.function_response.response', part -> '$.functionResponse.response', part -> '$.content'
    ));
create or replace temp macro part_is_error(part) as
    coalesce(part ->> '$.is_error', part ->> '$.isError', part ->> '$.error', 'false') = 'true'
    or coalesce(part ->> '$.toolResult.status', part ->> '$.status', '') = 'error'
    or coalesce(part ->> '$.output.type', '') like 'error%';

-- unwrapped_result: a tool result out of the envelopes that frameworks put around it: a serialized tool message, a list of
-- text blocks, an object with the one key that SDKs use for "the result".
create or replace temp macro unwrapped_result(value) as
    case
        -- A printed dict is the same object in another notation.
        when value[1:2] in ('{''', '[{') and try_cast(value as json) is null then coalesce(notation_json(value)::varchar, value)
        when value[1:1] not in ('{', '[', '"') or try_cast(value as json) is null then value
        when json_type(try_cast(value as json)) = 'VARCHAR' then try_cast(value as json) ->> '$'
        else coalesce(
            try_cast(value as json) ->> '$.output.kwargs.content',
            try_cast(value as json) ->> '$.kwargs.content',
            case when json_type(try_cast(value as json), '$.data.content') is not null
                and json_type(try_cast(value as json), '$.type') is not null then try_cast(value as json) ->> '$.data.content' end,
            case when json_type(try_cast(value as json), '$.output.content') is not null
                then try_cast(value as json) ->> '$.output.content' end,
            case when json_type(try_cast(value as json), '$.raw_output') is not null
                then json_text(try_cast(value as json) -> '$.raw_output') end,
            case when json_array_length(try_cast(value as json)) = 1 and json_type(try_cast(value as json), '$[0].text') = 'VARCHAR'
                then try_cast(value as json) ->> '$[0].text' end,
            case when json_keys(try_cast(value as json)) = ['output'] then json_text(try_cast(value as json) -> '$.output') end,
            case when json_type(try_cast(value as json), '$.content') = 'VARCHAR'
                and coalesce(json_type(try_cast(value as json), '$.tool_call_id'), json_type(try_cast(value as json), '$.role'))
                is not null then try_cast(value as json) ->> '$.content' end,
            value
        )
    end;

-- unwrapped_arguments: tool arguments out of their envelope: {"args": [], "kwargs": {…}}, {"input_str": …, "inputs": {…}}.
create or replace temp macro unwrapped_arguments(value) as
    case
        when value[1:1] not in ('{', '"') or try_cast(value as json) is null then value
        when json_type(try_cast(value as json)) = 'VARCHAR' then try_cast(value as json) ->> '$'
        when json_type(try_cast(value as json), '$.kwargs') = 'OBJECT' and json_type(try_cast(value as json), '$.args') = 'ARRAY'
            then json_text(try_cast(value as json) -> '$.kwargs')
        when json_type(try_cast(value as json), '$.kwargs') = 'OBJECT' and len(json_keys(try_cast(value as json))) = 1
            then json_text(try_cast(value as json) -> '$.kwargs')
        when json_type(try_cast(value as json), '$.inputs') = 'OBJECT' then json_text(try_cast(value as json) -> '$.inputs')
        when json_type(try_cast(value as json), '$.input_str') = 'VARCHAR' then try_cast(value as json) ->> '$.input_str'
        when json_type(try_cast(value as json), '$.sanitize_inputs_outputs') is not null
            then json_text(try_cast(value as json) -> '$.kwargs')
        else value
    end;

-- One reader for every dialect's messages: GenAI parts, OpenAI, Anthropic and Bedrock blocks, Gemini contents, LangChain
-- constructors, Vercel content. A message says who speaks (`role`) and holds parts. JSON is
-- parsed once a message, into a struct of the fields that any dialect uses; the macros below read that struct.

-- message_array: the messages in a document: an array of them, an array of such arrays, or an object that holds one under
-- a name that some SDK uses. An object that is itself one message comes back as the only element; NULL when none is found.
create or replace temp macro message_array(document) as
    case
        -- The first characters tell as much as parsing the whole document would.
        when document[1:1] = '[' or json_type(document) = 'ARRAY' then
            case
                when regexp_matches(document[1:80], '^\s*\[\s*\[') then json_extract(document, '$[0][*]')
                else json_extract(document, '$[*]')
            end
        when json_type(document) = 'OBJECT' then coalesce(
            case json_type(document, '$.messages')
                when 'ARRAY' then case
                    when json_type(document, '$.messages[0]') = 'ARRAY' then json_extract(document, '$.messages[0][*]')
                    else json_extract(document, '$.messages[*]')
                end
            end,
            case when json_type(document, '$.contents') = 'ARRAY' then json_extract(document, '$.contents[*]') end,
            case when json_type(document, '$.inputs.messages') = 'ARRAY' then json_extract(document, '$.inputs.messages[*]') end,
            case when json_type(document, '$.outputs.messages') = 'ARRAY' then json_extract(document, '$.outputs.messages[*]') end,
            case when json_type(document, '$.choices') = 'ARRAY' then json_extract(document, '$.choices[*].message') end,
            case when json_type(document, '$.generations[0]') = 'ARRAY'
                then json_extract(document, '$.generations[0][*].message') end,
            case when json_type(document, '$.output') = 'ARRAY' then json_extract(document, '$.output[*]') end,
            case when json_type(document, '$.input') = 'ARRAY' then json_extract(document, '$.input[*]') end,
            case when json_type(document, '$.prompt') = 'ARRAY' then json_extract(document, '$.prompt[*]') end,
            case when json_type(document, '$.content') = 'OBJECT' then [json_extract(document, '$.content')] end,
            case when json_type(document, '$.message') = 'OBJECT' then [json_extract(document, '$.message')] end,
            case when json_type(document, '$.response') = 'OBJECT' then [json_extract(document, '$.response')] end,
            case when json_type(document, '$.data.agent.messages') = 'ARRAY'
                then json_extract(document, '$.data.agent.messages[*]') end,
            case when json_type(document, '$.agent.messages') = 'ARRAY' then json_extract(document, '$.agent.messages[*]') end,
            case when json_type(document, '$.tasks_output[0].messages') = 'ARRAY'
                then json_extract(document, '$.tasks_output[#-1].messages[*]') end,
            case when coalesce(json_type(document, '$.role'), json_type(document, '$.parts'), json_type(document, '$.content'),
                json_type(document, '$.kwargs'), json_type(document, '$.tool_calls')) is not null then [document] end
        )
    end;

-- plain_answer: the text under the names that frameworks use for "the question" or "the answer" in an object without messages.
create or replace temp macro plain_answer(document) as
    case json_type(document)
        when 'VARCHAR' then document ->> '$'
        when 'OBJECT' then coalesce(
            document ->> '$.raw', document ->> '$.final_output', document ->> '$.answer', document ->> '$.output_text',
            case when json_type(document, '$.output') = 'VARCHAR' then document ->> '$.output' end,
            case when json_type(document, '$.response') = 'VARCHAR' then document ->> '$.response' end,
            case when json_type(document, '$.text') = 'VARCHAR' then document ->> '$.text' end,
            case when json_type(document, '$.question') = 'VARCHAR' then document ->> '$.question' end,
            case when json_type(document, '$.query') = 'VARCHAR' then document ->> '$.query' end,
            case when json_type(document, '$.prompt') = 'VARCHAR' then document ->> '$.prompt' end,
            case when json_type(document, '$.input') = 'VARCHAR' then document ->> '$.input' end,
            case when json_type(document, '$.task') = 'VARCHAR' then document ->> '$.task' end,
            case when json_type(document, '$.user_msg') = 'VARCHAR' then document ->> '$.user_msg' end,
            case when json_type(document, '$.args[0]') = 'VARCHAR' then document ->> '$.args[0]' end,
            -- The one text in an object of few fields.
            case when len(json_keys(document)) <= 3 and len(list_filter(json_extract(document, '$.*'),
                lambda item: json_type(item) = 'VARCHAR')) = 1
                then list_filter(json_extract(document, '$.*'), lambda item: json_type(item) = 'VARCHAR')[1] ->> '$' end
        )
    end;

-- message_fields: the fields of a message; NULL for a message that is a bare text.
create or replace temp macro message_fields(message) as
    from_json(message, '{"role": "VARCHAR", "type": "VARCHAR", "name": "VARCHAR", "tool_call_id": "VARCHAR", "call_id": "VARCHAR",
        "status": "VARCHAR", "id": "JSON", "content": "JSON", "parts": "JSON", "blocks": "JSON", "text": "JSON", "tool_calls": "JSON",
        "toolCalls": "JSON", "additional_kwargs": "JSON", "kwargs": "JSON", "data": "JSON", "message": "JSON"}');

-- message_body: the message inside the envelope of a serializer, as JSON; NULL when there is no envelope.
create or replace temp macro message_body(fields) as
    case
        when json_type(fields.kwargs) = 'OBJECT' and fields.role is null then fields.kwargs
        when json_type(fields.data) = 'OBJECT' and fields.type is not null then fields.data
        when json_type(fields.message) = 'OBJECT' then fields.message
    end;

-- message_role: system, user, assistant or tool; NULL when the message does not say.
create or replace temp macro role_word(word) as
    case
        when word in ('user', 'human', 'humanmessage', 'humanmessagechunk', 'input') then 'user'
        when word in ('assistant', 'ai', 'model', 'aimessage', 'aimessagechunk', 'bot', 'output') then 'assistant'
        when word in ('tool', 'function', 'ipython', 'toolmessage', 'functionmessage', 'tool-response', 'function_call_output')
            then 'tool'
        when word in ('system', 'developer', 'systemmessage', 'system_instruction') then 'system'
    end;
create or replace temp macro message_role(fields) as
    coalesce(
        role_word(lower(fields.role)),
        role_word(lower(fields.kwargs ->> '$.role')),
        role_word(lower(fields.kwargs ->> '$.type')),
        role_word(lower(fields.data ->> '$.type')),
        role_word(lower(fields.type)),
        role_word(lower(case json_type(fields.id) when 'ARRAY' then fields.id ->> '$[#-1]' end)),
        role_word(lower(fields.message ->> '$.role')),
        case when fields.type = 'function_call' then 'assistant' end
    );

-- text_blocks: the parts of a text that is itself JSON for a list of content blocks; NULL for ordinary text.
create or replace temp macro text_blocks(value) as
    case
        when value[1:2] = '[{' and regexp_matches(value[1:40], '^\[\{\s*"(text|toolUse|toolResult|type)"')
            and json_type(try_cast(value as json)) = 'ARRAY'
            then json_extract(try_cast(value as json), '$[*]')
    end;

-- message_parts_of: the parts of a message, each a JSON object (or a JSON string: plain text). `body` is the message's JSON.
create or replace temp macro message_parts_of(fields, body) as
    list_concat(
        case
            when fields.parts[1:1] = '[' then json_extract(fields.parts, '$[*]')
            when fields.content[1:1] = '[' then json_extract(fields.content, '$[*]')
            when fields.content[1:1] = '{' then coalesce(json_items(fields.content -> '$.parts'), [])
            when fields.blocks[1:1] = '[' then json_extract(fields.blocks, '$[*]')
            when fields.content[1:1] = '"' then
                case when fields.content[2:3] = '[{' then coalesce(text_blocks(fields.content ->> '$'), [fields.content])
                    else [fields.content] end
            when fields.type in ('function_call', 'function_call_output', 'tool_call', 'tool_use', 'tool_result', 'text', 'reasoning')
                then [body]
            when fields.text[1:1] = '"' then [fields.text]
            else []::json[]
        end,
        case
            when fields.tool_calls[1:1] = '[' then json_extract(fields.tool_calls, '$[*]')
            when fields.toolCalls[1:1] = '[' then json_extract(fields.toolCalls, '$[*]')
            when fields.additional_kwargs is not null then json_items(fields.additional_kwargs -> '$.tool_calls')
            else []::json[]
        end
    );

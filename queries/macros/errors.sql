-- What texts say about a tool call that went wrong.

-- is_error_text: a tool's result reports an error: it says so at the start, or is an object with an error in it.
create or replace temp macro is_error_text(value) as
    value is not null and case
        when value[1:1] = '{' and json_type(try_cast(value as json)) = 'OBJECT' then
            coalesce(lower(try_cast(value as json) ->> '$.status'), '') in ('error', 'failed', 'failure')
            or coalesce(json_type(try_cast(value as json), '$.error'), 'NULL') in ('VARCHAR', 'OBJECT')
                and coalesce(try_cast(value as json) ->> '$.error', '') <> ''
            or coalesce(try_cast(value as json) ->> '$.is_error', try_cast(value as json) ->> '$.isError', '') = 'true'
        else regexp_matches(value[1:200],
            '(?i)^\s*(error\b\s*[:\-(]|error (executing|running|calling|invoking|while|in)\b|an error occurred|exception:|traceback \(most|[a-z_.]*(error|exception)\(|[a-z]\w*Error: |\d+ validation errors? for |tool (call )?(failed|error)|failed to (call|run|execute|invoke))')
    end;

-- is_unknown_tool_text: the error says that no such tool exists.
create or replace temp macro is_unknown_tool_text(value) as
    value is not null and regexp_matches(value[1:400],
        '(?i)unknown (tool|function)|unavailable tool|(tool|function) .{0,60}(not found|does not exist|is not available|is not a valid)|is not a valid tool|no (such )?tool|not a known tool|tool_not_found');

-- is_invalid_arguments_text: the error says that the arguments were refused before the tool ran.
create or replace temp macro is_invalid_arguments_text(value) as
    value is not null and regexp_matches(value[1:600],
        '(?i)validation ?error|validation failed|argument parsing failed|invalid (arguments|input|params|tool (input|call))|input validation|field required|unexpected keyword argument|missing \d+ required|required (property|argument|parameter|field)|type validation failed|ToolInputParsing|InvalidToolInput|do not match the (tool )?schema|is missing required|is not in the tool''s args');

-- is_control_flow: what a framework raises to move between nodes, to ask a person or to hand over: not an error.
create or replace temp macro is_control_flow(value) as
    regexp_matches(value, '(?i)ParentCommand|Command\(graph|GraphBubbleUp|GraphInterrupt|HandoffException|GeneratorExit');

-- is_limit_error: the run ended at a limit that was set for it: truncated rather than failed.
create or replace temp macro is_limit_error(value) as
    regexp_matches(value, '(?i)MaxTurnsExceeded|GraphRecursionError|UsageLimitExceeded|MaxTokensReached|LlmCallsLimitExceeded|RecursionLimit|max_tokens');

-- envelope_is_error: the framework's own wrapper around a result says that the tool failed.
create or replace temp macro envelope_is_error(value) as
    value[1:1] = '{' and contains(value, '"status"') and coalesce(
        list_filter(
            json_extract_string(as_json(value), ['$.data.status', '$.output.kwargs.status', '$.kwargs.status', '$.output.status']),
            lambda status: status is not null
        )[1],
        case when json_type(as_json(value), '$.tool_call_id') is not null then as_json(value) ->> '$.status' end, ''
    ) = 'error';

-- What each span is. The first rule that fits decides; a span that says nothing about agents is `other`.
-- Classes: llm, tool, agent, workflow, handoff, retrieval, embedding, node (a step inside an agent), transport (MCP, A2A),
-- setup (an agent is built, not run), evaluator (a judge: outside the run's figures), drop (a placeholder), other.
create or replace temp table span_class as
with facts as (
    select
        batch_spans.s,
        batch_spans.parent,
        batch_spans.name,
        batch_spans.kind,
        batch_spans.scope_name as scope,
        lower(span_facts.operation) as operation,
        upper(span_facts.oi_kind) as oi_kind,
        lower(span_facts.traceloop_kind) as traceloop_kind,
        lower(coalesce(span_facts.langfuse_type, span_facts.langsmith_kind, span_facts.mastra_type,
            span_facts.agentops_kind)) as kind_word,
        upper(span_facts.mlflow_type) as mlflow_type,
        span_facts.* exclude (s, operation, oi_kind, traceloop_kind, mlflow_type),
        coalesce(span_facts.logfire_template, batch_spans.name) as template,
        parent_span.name as parent_name,
        parent_facts.graph_node as parent_node
    from batch_spans
    inner join span_facts using (s)
    left join batch_spans as parent_span on parent_span.s = batch_spans.parent
    left join span_facts as parent_facts on parent_facts.s = batch_spans.parent
)
select
    s,
    case
        -- The harness of a benchmark is no part of the agent, but an attempt that it broke off is a run even if nothing is left of it.
        when trial_outcome in ('error', 'timeout') then 'workflow'
        when trial_outcome is not null then 'other'
        when logfire_span_type = 'pending_span' and parent is not null then 'drop'
        -- The answer given through a tool is an answer, not a call.
        when tool_name in ('final_answer', 'final_result') then 'node'
        when scope like '%dspy' and name in ('finish.__call__', 'execute_tool finish') then 'node'
        when tool_name = '(merged tools)' or name like 'execute_tool (merged%' then 'drop'
        when oi_kind = 'EVALUATOR' or kind_word = 'evaluator' or mlflow_type = 'EVALUATOR' or judge_scorer is not null
            then 'evaluator'
        when scope like 'logfire%' then case
            when template like 'Handoff:%' then 'handoff'
            when template like 'Function:%' then 'tool'
            when template like 'Agent run:%' then 'agent'
            when template like 'Chat completion%' or template like 'Responses API%' or template like 'Message with%' then 'llm'
            when template like 'OpenAI Agents trace:%' then 'workflow'
            when operation is null then 'node'
        end
    end as early_class,
    case
        when early_class is not null then early_class
        when traceloop_kind = 'handoff' or operation = 'handoff' or kind_word = 'handoff'
            or (oi_kind = 'TOOL' and name like 'handoff to %' and tool_name is null) then 'handoff'
        when a2a_method is not null then 'transport'
        when mcp_method is not null and (kind = 2 or mcp_method <> 'tools/call') then 'transport'
        when operation = 'create_agent' or name in ('workflow.build') or name like 'create_agent %' then 'setup'
        when operation in ('fetch_response', 'create_memory_store', 'delete_memory_store', 'create_memory', 'update_memory',
            'upsert_memory', 'delete_memory', 'plan', 'execute_event_loop_cycle', 'agent_step', 'execute_task', 'invoke_node',
            'schedule_tool_calls', 'system_prompt', 'chain', 'mapping', 'goto', 'model_chunk') and kind_word is null
            and traceloop_kind is null then 'node'
        -- OpenLIT writes a graph that is an agent as a workflow, and its steps as agents.
        when scope = 'openlit.instrumentation.langgraph' and operation = 'invoke_agent'
            and name in ('invoke_agent model', 'invoke_agent agent', 'invoke_agent tools', 'invoke_agent call_model') then 'node'
        when scope = 'openlit.instrumentation.langgraph' and name like 'invoke\_workflow %' escape '\' then 'agent'
        when operation in ('invoke_workflow', 'handle_conversation_turn', 'invoke_swarm', 'invoke_graph') then 'workflow'
        when name in ('invocation', 'workflow.run') and scope in ('gcp.vertex.agent', 'agent_framework') then 'workflow'
        when scope like 'openinference%' and name like 'Crew\_%' escape '\' then 'workflow'
        when oi_kind = 'AGENT' and scope like '%openai_agents%' and agent_name is null then 'workflow'
        when traceloop_kind = 'workflow' and operation is distinct from 'invoke_agent' then 'workflow'
        when kind_word like 'workflow%' or mlflow_type = 'WORKFLOW' then 'workflow'
        -- LangGraph writes kind AGENT on a step called `agent`, and kind CHAIN on a whole nested agent.
        when graph_node is not null and (oi_kind = 'AGENT' or kind_word = 'chain' or oi_kind = 'CHAIN'
            or traceloop_kind = 'task')
            then case
                when name in (agent_name, 'invoke_agent ' || agent_name) then 'agent'
                -- A node that holds a whole graph of the same name holds an agent.
                when name = graph_node and name = parent_name and parent_node = graph_node then 'agent'
                else 'node'
            end
        when graph_integration is not null and oi_kind in ('CHAIN', 'AGENT') or (kind_word = 'chain' and graph_integration
            is not null) then case when name = agent_name then 'agent' when graph_node is null and parent is null
            then 'workflow' else 'node' end
        when oi_kind = 'LLM' and name like '%.\_prepare\_chat\_with\_tools' escape '\' then 'node'
        when operation in ('chat', 'text_completion', 'generate_content', 'completion', 'llm_call', 'generate', 'response')
            or oi_kind = 'LLM' or request_type in ('chat', 'completion') or name = 'call_llm'
            or kind_word in ('generation', 'llm', 'model_generation')
            or mlflow_type in ('LLM', 'CHAT_MODEL') or claude_type = 'llm_request'
            or vercel_operation in ('ai.generateText.doGenerate', 'ai.streamText.doStream', 'ai.generateObject.doGenerate',
                'ai.streamObject.doStream') or genkit_type = 'model'
            or haystack_type like '%ChatGenerator' then 'llm'
        when operation in ('execute_tool', 'tool_call') or oi_kind = 'TOOL' or traceloop_kind = 'tool'
            or kind_word in ('tool', 'tool_call', 'mcp_tool_call') or mlflow_type = 'TOOL' or claude_type = 'tool'
            or vercel_operation = 'ai.toolCall' or genkit_type = 'tool' or mcp_method = 'tools/call'
            or scope = 'pydantic-ai' and name = 'running tool' then 'tool'
        when operation in ('invoke_agent', 'agent_call') or oi_kind = 'AGENT' or traceloop_kind = 'agent'
            or kind_word in ('agent', 'agent_run') or mlflow_type = 'AGENT' or claude_type = 'interaction'
            or vercel_operation in ('ai.generateText', 'ai.streamText', 'ai.generateObject', 'ai.streamObject')
            or (scope = 'pydantic-ai' and name = 'agent run')
            or haystack_type = 'Agent' then 'agent'
        when operation in ('retrieval', 'search_memory', 'memory.search', 'vector_db_retrieve')
            or oi_kind in ('RETRIEVER', 'RERANKER') or kind_word = 'retriever' or mlflow_type in ('RETRIEVER', 'RERANKER')
            then 'retrieval'
        when operation = 'embeddings' or oi_kind = 'EMBEDDING' or kind_word = 'embedding' or mlflow_type = 'EMBEDDING'
            or request_type = 'embedding' or vercel_operation like 'ai.embed%' then 'embedding'
        when scope like 'openinference%haystack' and name = 'Agent.run' then 'agent'
        when operation is not null or oi_kind is not null or traceloop_kind is not null or kind_word is not null
            or mlflow_type is not null or claude_type is not null or vercel_operation is not null then 'node'
        else 'other'
    end as class,
    case
        when scope like 'langfuse%' or langfuse_type is not null then 'langfuse'
        when oi_kind is not null then 'openinference'
        when traceloop_kind is not null or request_type is not null then 'traceloop'
        when vercel_operation is not null then 'vercel_ai'
        when mlflow_type is not null then 'mlflow'
        when scope = 'gcp.vertex.agent' then 'google_adk'
        when scope like 'strands%' then 'strands'
        when scope = 'pydantic-ai' then 'pydantic_ai'
        when scope = 'agent_framework' then 'ms_agent_framework'
        when scope like 'langsmith%' or langsmith_kind is not null then 'langsmith'
        when scope like 'logfire%' then 'logfire'
        when claude_type is not null then 'claude_code'
        when mastra_type is not null then 'mastra'
        when scope like 'autogen%' then 'autogen'
        when scope like 'semantic_kernel%' then 'semantic_kernel'
        when operation is not null then 'gen_ai'
    end as convention
from facts;

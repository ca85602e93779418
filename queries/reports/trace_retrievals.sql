-- What a run looked up in documents or memory, in order.
select
    retrieval_id,
    agent_invocation_id,
    kind,
    data_source,
    query,
    started_at,
    duration_s,
    status,
    json_array_length(documents)::bigint as n_documents,
    documents::varchar as documents
from retrievals
where run_id = $run_id
order by started_at nulls last, retrieval_id

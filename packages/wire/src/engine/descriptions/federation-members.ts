/** Descriptions of members of messages between relays, by name. */
export const federationMembers: Readonly<Record<string, string>> = {
  agent_count: "The number of agents that the relay states.",
  challenge_response:
    "The Ed25519 signature in base64url of the initiator's relay id, a colon and `nonce_b`.",
  depth: "The number of tasks above this one, as far as the sender knows them; 0 if absent.",
  gross_amount: "The amount before the fee, in USD.",
  hop_count: "The number of relays that have forwarded the query.",
  hop_distance: "The number of relays behind the answering one.",
  incarnation:
    "POSIX seconds of the latest restore of the relay's database from a backup; 0 if there was none.",
  max_hops: "The `hop_count` at which the query is no longer forwarded.",
  nonce_a: "The 32 random bytes of the initiator, as 64 hex digits.",
  nonce_b: "The 32 random bytes of the responder, as 64 hex digits.",
  origin_relay: "The id of the sending relay.",
  query_id: "The id of the query, by which repetitions are recognised.",
  relayed: "The forward that the sender received itself, with all its members but `task_payload`.",
  target_agent: "The id of the agent that the task is for.",
  visited: "The ids of the relays that have seen the query.",
};

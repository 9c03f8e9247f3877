const SINCE_EPOCH = "in ms since the Unix epoch";

/** Descriptions of members that state a time, by name. */
export const timeMembers: Readonly<Record<string, string>> = {
  at: `The time at which it happened, ${SINCE_EPOCH}.`,
  created_at: `The time of creation, ${SINCE_EPOCH}.`,
  ended_at: `The time of the end, ${SINCE_EPOCH}; null until then.`,
  erased_at: `The time at which the texts were replaced by their hashes, ${SINCE_EPOCH}.`,
  expires_at: `The time of expiry, ${SINCE_EPOCH}.`,
  first_seen_at: `The time of the first contact, ${SINCE_EPOCH}.`,
  last_active_at: `The time of the last activity, ${SINCE_EPOCH}.`,
  last_heartbeat_at: `The time of the last heartbeat, ${SINCE_EPOCH}; null before the first one.`,
  last_seen_at: `The time of the last contact, ${SINCE_EPOCH}.`,
  next_attempt_at: `The time of the next attempt, ${SINCE_EPOCH}; null if there is none.`,
  registered_at: `The time of registration, ${SINCE_EPOCH}.`,
  renewed_at: `The time of the last renewal, ${SINCE_EPOCH}.`,
  resolved_at: `The time at which it was resolved, ${SINCE_EPOCH}; null until then.`,
  revoked_at: `The time of the revocation, ${SINCE_EPOCH}.`,
  settled_at: `The time of the settlement, ${SINCE_EPOCH}.`,
  started_at: `The time of the start, ${SINCE_EPOCH}.`,
  submitted_at: `The time of the submission, ${SINCE_EPOCH}.`,
  completed_at: `The time of completion, ${SINCE_EPOCH}.`,
  timestamp: `The time of the statement or event, ${SINCE_EPOCH}.`,
  updated_at: `The time of the last change, ${SINCE_EPOCH}.`,
};

/**
 * The fees that the relay kept on completed tasks: of each pair of payer and executor, of an executor, and
 * of a payer; and the sums by which an executor's level is shown to strangers (docs/trust.md). The first
 * start computes the sums, because they depend on the configured thresholds.
 */
export const trustFees = {
  id: "038-trust-fees",
  sql: `
ALTER TABLE trust_records ADD COLUMN fees_kept INTEGER NOT NULL DEFAULT 0;
UPDATE trust_records SET fees_kept = kept.fees
  FROM (SELECT payer_id, payee_id, sum(fee) AS fees FROM settlements
        WHERE status = 'completed' GROUP BY payer_id, payee_id) AS kept
  WHERE kept.payer_id = trust_records.agent_id AND kept.payee_id = trust_records.remote_agent_id;

ALTER TABLE agent_histories ADD COLUMN fees_kept INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_histories ADD COLUMN first_contact_backing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_histories ADD COLUMN verified_backing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_histories ADD COLUMN trusted_backing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_histories ADD COLUMN fees_paid INTEGER NOT NULL DEFAULT 0;
UPDATE agent_histories SET fees_kept = kept.fees
  FROM (SELECT remote_agent_id, sum(fees_kept) AS fees FROM trust_records
        GROUP BY remote_agent_id) AS kept
  WHERE kept.remote_agent_id = agent_histories.agent_id;
INSERT INTO agent_histories (agent_id, successful_tasks, failed_tasks, latency_total_ms, fees_paid)
  SELECT agent_id, 0, 0, 0, sum(fees_kept) FROM trust_records WHERE fees_kept > 0 GROUP BY agent_id
  ON CONFLICT (agent_id) DO UPDATE SET fees_paid = excluded.fees_paid;

CREATE TABLE trust_thresholds (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  verified INTEGER NOT NULL,
  trusted INTEGER NOT NULL
) STRICT;
INSERT INTO trust_thresholds (one, verified, trusted) VALUES (1, -1, -1);

CREATE TABLE key_sharers (
  agent_id TEXT PRIMARY KEY,
  group_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX key_sharers_by_group ON key_sharers (group_id);
INSERT INTO key_sharers (agent_id, group_id)
  SELECT bound.agent_id, min(other.agent_id)
  FROM (SELECT agent_id, public_key FROM agent_keys
        UNION SELECT agent_id, public_key FROM devices) AS bound
  JOIN (SELECT agent_id, public_key FROM agent_keys
        UNION SELECT agent_id, public_key FROM devices) AS other
    ON other.public_key = bound.public_key
  GROUP BY bound.agent_id HAVING count(DISTINCT other.agent_id) > 1;
UPDATE key_sharers SET group_id = (
  SELECT outer_group.group_id FROM key_sharers AS outer_group
  WHERE outer_group.agent_id = key_sharers.group_id);
`,
};

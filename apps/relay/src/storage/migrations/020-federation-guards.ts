/**
 * The amount that may still become owed for a task, in its own row, so that no total can differ from
 * it. Tasks that ended without their peer are closed. Also a removal that only the operator can lift,
 * and the previous relay's forward of a task that is forwarded again.
 */
export const federationGuards = {
  id: "020-federation-guards",
  sql: `
UPDATE federation_outbound AS o
  SET body = json_set(body, '$.state', 'void', '$.dueAt', NULL), due_at = NULL,
    ended_at = cast(body ->> '$.expiresAt' AS INTEGER), version = version + 1
  WHERE ended_at IS NULL AND body ->> '$.state' IN ('forwarding', 'forwarded')
    AND NOT EXISTS (SELECT 1 FROM tasks AS t WHERE t.task_id = o.task_id
      AND t.status = 'claimed' AND t.claimed_by = 'relay ' || o.relay_id);
UPDATE federation_outbound AS o
  SET body = json_set(body, '$.awaitsSettlement', json('true')), version = version + 1
  WHERE body ->> '$.state' = 'completed' AND EXISTS (SELECT 1 FROM federation_inbound AS i
    WHERE i.task_id = o.task_id AND i.settlement_id IS NULL AND i.body ->> '$.hold' = 'open');

ALTER TABLE federation_outbound ADD COLUMN payable INTEGER NOT NULL DEFAULT 0;
UPDATE federation_outbound SET payable = cast(body ->> '$.terms.net' AS INTEGER)
  WHERE body ->> '$.state' IN ('forwarding', 'forwarded') OR body ->> '$.awaitsSettlement'
    OR (body ->> '$.state' = 'relaying' AND body ->> '$.receiptStatus' = 'completed');
CREATE INDEX federation_outbound_payable ON federation_outbound (relay_id, payable)
  WHERE payable > 0;

ALTER TABLE federation_outbox ADD COLUMN payable INTEGER NOT NULL DEFAULT 0;
UPDATE federation_outbox SET payable = cast(body ->> '$.settlement.terms.net' AS INTEGER)
  WHERE ended_at IS NULL;
CREATE INDEX federation_outbox_payable ON federation_outbox (relay_id, payable) WHERE payable > 0;

ALTER TABLE federation_peers DROP COLUMN reserved;
ALTER TABLE federation_peers ADD COLUMN operator_removal TEXT;

ALTER TABLE federation_inbound ADD COLUMN relayed TEXT;
`,
};

interface Members {
  readonly amount: string;
  readonly status: string;
  readonly hold: string;
  readonly state: string;
  /** Whether the peer has read the result; absent in many rows. */
  readonly wasRead: string;
}

const addAmounts = ({ amount, status, hold, state, wasRead }: Members) => `
ALTER TABLE federation_inbound ADD COLUMN undecided INTEGER;
UPDATE federation_inbound SET undecided = ${amount}
  WHERE ended_at IS NULL AND settlement_id IS NULL AND defaulted IS NULL AND ${status} = 'completed'
    AND (${hold} = 'due'
      OR (${hold} = 'released' AND ${state} = 'returning' AND coalesce(${wasRead}, false) = false));
CREATE INDEX federation_inbound_undecided ON federation_inbound (relay_id, undecided)
  WHERE undecided IS NOT NULL;
`;

/**
 * Stores the amount of each peer's result that was not decided before its hold expired, because each forward
 * of the peer reads it. The rule is `getUndecidedAmount`.
 */
export const undecidedResults = {
  id: "061-undecided-results",
  sql: {
    sqlite: addAmounts({
      amount: "body ->> '$.amount'",
      status: "body ->> '$.receiptStatus'",
      hold: "body ->> '$.hold'",
      state: "body ->> '$.state'",
      wasRead: "body ->> '$.wasRead'",
    }),
    postgres: addAmounts({
      amount: "cast(json_text(body, 'amount') AS bigint)",
      status: "json_text(body, 'receiptStatus')",
      hold: "json_text(body, 'hold')",
      state: "json_text(body, 'state')",
      wasRead: "cast(json_text(body, 'wasRead') AS boolean)",
    }),
  },
};

import { runStatement } from "@agent/test-postgres";

/** Counts the rows that a relay has stored and sums its books directly; `total` and `differing` must be 0. */
export async function readStoredSums(databaseUrl: string): Promise<Record<string, unknown>> {
  const [sums = {}] = await runStatement(
    databaseUrl,
    `SELECT (SELECT count(*) FROM tasks) AS tasks,
       (SELECT count(*) FROM settlements) AS settlements,
       (SELECT count(*) FROM postings WHERE type = 'deposit' AND account LIKE 'agent:%') AS deposits,
       (SELECT count(*) FROM accounts WHERE account LIKE 'held:%' AND balance <> 0) AS holds,
       (SELECT count(*) FROM tasks WHERE status IN ('pending', 'claimed')) AS open,
       (SELECT sum(balance) FROM accounts) AS total,
       (SELECT count(*) FROM accounts AS a WHERE balance <> coalesce(
         (SELECT sum(amount) FROM postings AS p WHERE p.account = a.account), 0)) AS differing`,
  );
  return sums;
}

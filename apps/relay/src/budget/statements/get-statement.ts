import { toDollars } from "@agent/budget";
import {
  limits,
  refuse,
  type Answer,
  type Operations,
  type QueryOf,
  type Statement,
} from "@agent/wire";
import type { Services } from "../../services.ts";
import type { Reader } from "../../storage/storage.ts";
import { toTransaction } from "../accounts/history.ts";
import { getTransactionAccount } from "../post-movement.ts";
import { formatStatementCsv } from "./statement-csv.ts";
import { findAccount, findPosting, listPostings } from "../store.ts";

type Get = Operations["getStatement"];

/** Returns an account's movements of a period with the balances at both ends. */
export async function getStatement(
  { storage, identity, runtime }: Pick<Services, "storage" | "identity" | "runtime">,
  agentId: string,
  { from = 0, to, format }: QueryOf<Get>,
): Promise<Answer<Get>> {
  const account = getTransactionAccount(agentId, identity.relayId);
  const last = (await findAccount(storage.read, account))?.sequence ?? 0;
  const first = await findFirstSequence(storage.read, { account, last, time: from });
  // Without `to` it closes at the current balance, even when the clock dated the last movements later.
  const bound =
    to === undefined
      ? last + 1
      : await findFirstSequence(storage.read, { account, last, time: to });
  const end = Math.max(first, bound);
  if (end - first > limits.statementRows) {
    return refuse("statement.too_long", `at most ${limits.statementRows} movements`);
  }
  const before = await findPosting(storage.read, { account, sequence: first - 1 });
  const rows = await listPostings(storage.read, { account, before: end, limit: end - first });
  const opening = before?.balance_after ?? 0;
  const statement: Statement = {
    agent_id: agentId,
    currency: "USD",
    from,
    to: to ?? runtime.now(),
    opening_balance: toDollars(opening),
    transactions: rows.map((row) => toTransaction(row, agentId)).toReversed(),
    closing_balance: toDollars(rows[0]?.balance_after ?? opening),
  };
  return format === "csv"
    ? { status: 200, mediaType: "text/csv", content: formatStatementCsv(statement) }
    : { status: 200, body: statement };
}

/**
 * Finds the sequence of an account's first posting at or after a time; one past its last when there is
 * none. Sequences have no gaps and grow with time, so no index of times is needed.
 */
async function findFirstSequence(
  read: Reader,
  { account, last, time }: { account: string; last: number; time: number },
): Promise<number> {
  let [low, high] = [1, last + 1];
  while (low < high) {
    const sequence = Math.floor((low + high) / 2);
    const posting = await findPosting(read, { account, sequence });
    if (posting !== undefined && posting.created_at < time) low = sequence + 1;
    else high = sequence;
  }
  return low;
}

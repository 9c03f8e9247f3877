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
import { toTransaction } from "../accounts/history.ts";
import { getTransactionAccount } from "../post-movement.ts";
import { formatStatementCsv } from "./statement-csv.ts";
import { findFirstSequence } from "./find-first-sequence.ts";
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

import { toDollars } from "@agent/budget";
import {
  limits,
  refuse,
  type Answer,
  type Operations,
  type QueryOf,
  type Statement,
} from "@agent/wire";
import { createPageAnswer, numberAscending } from "../../http/paging/page.ts";
import type { Services } from "../../services.ts";
import type { Reader } from "../../storage/storage.ts";
import type { PostingRow } from "../../storage/tables/budget.ts";
import { toTransaction } from "../accounts/history.ts";
import { getTransactionAccount } from "../post-movement.ts";
import { formatStatementCsv } from "./statement-csv.ts";
import { findFirstSequence } from "./find-first-sequence.ts";
import { findAccount, findPosting, listPostings } from "../store.ts";

type Get = Operations["getStatement"];

/** About as many movements as fit into one page. */
const PAGE_ROWS = 4_000;

/** The movements of an account from the sequence number `first` up to but excluding `end`. */
interface Period {
  readonly account: string;
  readonly first: number;
  readonly end: number;
}

/** Returns an account's movements of a period, page by page, with the balances at both ends of each page. */
export async function getStatement(
  { storage, identity, runtime }: Pick<Services, "storage" | "identity" | "runtime">,
  agentId: string,
  query: QueryOf<Get>,
): Promise<Answer<Get>> {
  const { read } = storage;
  const { from = 0, to, cursor, format } = query;
  const period = await findPeriod(read, getTransactionAccount(agentId, identity.relayId), query);
  const show = async (rows: readonly PostingRow[]): Promise<Statement> => {
    const opening = await findBalanceBefore(read, period, rows[0]);
    return {
      agent_id: agentId,
      currency: "USD",
      from,
      to: to ?? runtime.now(),
      opening_balance: toDollars(opening),
      transactions: rows.map((row) => toTransaction(row, agentId)),
      closing_balance: toDollars(rows.at(-1)?.balance_after ?? opening),
    };
  };
  if (format !== "csv") {
    const find = (after: number, limit: number) => listMovements(read, period, { after, limit });
    const keyOf = ({ sequence }: PostingRow) => sequence;
    const source = { order: numberAscending, find, keyOf, show };
    return createPageAnswer({ limit: PAGE_ROWS, cursor }, source);
  }
  const limit = limits.statementRows;
  if (period.end - period.first > limit) {
    return refuse("statement.too_long", `at most ${limit} movements as csv; json has pages`);
  }
  const rows = await listMovements(read, period, { after: 0, limit });
  const content = formatStatementCsv(await show(rows));
  return Buffer.byteLength(content) > limits.outboundBytes
    ? refuse("statement.too_long", `at most ${limits.outboundBytes} bytes as csv; json has pages`)
    : { status: 200, mediaType: "text/csv", content };
}

async function findPeriod(
  read: Reader,
  account: string,
  { from = 0, to }: QueryOf<Get>,
): Promise<Period> {
  const last = (await findAccount(read, account))?.sequence ?? 0;
  const first = await findFirstSequence(read, { account, last, time: from });
  // Without `to` it closes at the current balance, even when the clock dated the last movements later.
  const bound =
    to === undefined ? last + 1 : await findFirstSequence(read, { account, last, time: to });
  return { account, first, end: Math.max(first, bound) };
}

/** Lists movements of a period after a sequence number, oldest first. */
async function listMovements(
  read: Reader,
  { account, first, end }: Period,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<PostingRow[]> {
  const start = Math.max(first, after + 1);
  const before = Math.min(end, start + limit);
  if (before <= start) return [];
  return (await listPostings(read, { account, before, limit: before - start })).toReversed();
}

/** Finds the balance before a movement; at the end of the period if there is none. */
async function findBalanceBefore(
  read: Reader,
  { account, end }: Period,
  row: PostingRow | undefined,
): Promise<number> {
  const before = await findPosting(read, { account, sequence: (row?.sequence ?? end) - 1 });
  return before?.balance_after ?? 0;
}

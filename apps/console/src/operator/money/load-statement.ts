import { limits } from "@agent/wire";
import type { BodyOf, PageAnswer, RelayCaller } from "../../shared/relay/call-relay.ts";
import { refuseLocally } from "../../shared/relay/refuse-locally.ts";

export type Statement = Exclude<BodyOf<"getStatement">, string>;

/** Reads all pages of an account's statement; refuses one with more movements than a chart can show. */
export async function loadStatement(
  relay: RelayCaller,
  agentId: string,
): Promise<PageAnswer<Statement>> {
  const pages: Statement[] = [];
  let movements = 0;
  for (let cursor: string | null | undefined; ;) {
    const query = { ...(cursor && { cursor }) };
    const answer = await relay.call("getStatement", { params: { agentId }, query });
    if (!answer.ok) return answer;
    // JSON was asked for.
    const page = answer.body as Statement;
    pages.push(page);
    movements += page.transactions.length;
    cursor = page.next_cursor;
    if (movements > limits.statementRows) {
      return refuseLocally(
        `more than ${limits.statementRows} movements are too many for a chart; all are listed below`,
      );
    }
    if (!cursor) break;
  }
  const [first] = pages;
  const last = pages.at(-1)!;
  const transactions = pages.flatMap((page) => page.transactions);
  return {
    ok: true,
    body: { ...first!, ...last, opening_balance: first!.opening_balance, transactions },
  };
}

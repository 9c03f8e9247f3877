import { toDollars } from "@agent/budget";
import type { Refusal, Withdrawal, WithdrawalStatus } from "@agent/wire";
import { createPageAnswer, textDescending, type PageQuery } from "../../http/paging/page.ts";
import type { Services } from "../../services.ts";
import type { WithdrawalRow } from "../../storage/tables/budget.ts";
import { listWithdrawalsByStatus, listWithdrawalsByAgent } from "./withdrawal-store.ts";

interface WithdrawalPageQuery extends PageQuery {
  readonly status?: WithdrawalStatus | undefined;
}

interface WithdrawalPage {
  readonly ok: true;
  readonly status: 200;
  readonly body: { withdrawals: Withdrawal[]; next_cursor: string | null };
}

/** Lists an agent's withdrawals, or all for the operator, newest first. */
export async function listWithdrawals(
  { storage }: Pick<Services, "storage">,
  agentId: string | undefined,
  { status, ...query }: WithdrawalPageQuery,
): Promise<WithdrawalPage | Refusal<"request.invalid">> {
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) =>
      agentId === undefined
        ? listWithdrawalsByStatus(storage.read, { status, before, limit })
        : listWithdrawalsByAgent(storage.read, { agent_id: agentId, before, limit }),
    keyOf: ({ withdrawal_id }) => withdrawal_id,
    show: (rows) => ({ withdrawals: rows.map(toWithdrawal) }),
  });
}

export function toWithdrawal({ amount, ...row }: WithdrawalRow): Withdrawal {
  return { ...row, amount: toDollars(amount), currency: "USD" };
}

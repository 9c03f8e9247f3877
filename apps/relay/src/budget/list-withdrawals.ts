import { asMicro, fromMicro } from "@agent/budget";
import type { Refusal, Withdrawal, WithdrawalStatus } from "@agent/wire";
import { answerPage, textDown, type PageQuery } from "../http/page.ts";
import type { Services } from "../services.ts";
import type { WithdrawalRow } from "../storage/tables/budget.ts";
import { allWithdrawals, withdrawalsOf } from "./withdrawal-store.ts";

interface Query extends PageQuery {
  readonly status?: WithdrawalStatus | undefined;
}

interface Listed {
  readonly status: 200;
  readonly body: { withdrawals: Withdrawal[]; next_cursor: string | null };
}

/** An agent's withdrawals, or everybody's for the operator, newest first. */
export async function listWithdrawals(
  { storage }: Pick<Services, "storage">,
  agentId: string | undefined,
  { status, ...query }: Query,
): Promise<Listed | Refusal<"request.invalid">> {
  return answerPage(query, {
    order: textDown,
    find: (before, limit) =>
      agentId === undefined
        ? allWithdrawals(storage.read, { status, before, limit })
        : withdrawalsOf(storage.read, { agent_id: agentId, before, limit }),
    keyOf: ({ withdrawal_id }) => withdrawal_id,
    show: (rows) => ({ withdrawals: rows.map(withdrawalOf) }),
  });
}

export function withdrawalOf({ amount, ...row }: WithdrawalRow): Withdrawal {
  return { ...row, amount: fromMicro(asMicro(amount)), currency: "USD" };
}

import { toDollars } from "@agent/budget";
import type { Refusal, Withdrawal, WithdrawalStatus } from "@agent/wire";
import {
  formatLargestFirst,
  largestFirst,
  parseLargestFirst,
} from "../../http/paging/largest-first.ts";
import { createPageAnswer, textDescending, type PageQuery } from "../../http/paging/page.ts";
import type { Services } from "../../services.ts";
import type { WithdrawalRow } from "../../storage/tables/budget.ts";
import {
  listLargestWithdrawals,
  listWithdrawalsByAgent,
  listWithdrawalsByStatus,
  type ListedWithdrawal,
} from "./withdrawal-store.ts";

interface WithdrawalPageQuery extends PageQuery {
  readonly status?: WithdrawalStatus | undefined;
  readonly sort?: "newest" | "amount" | undefined;
}

interface WithdrawalPage {
  readonly ok: true;
  readonly status: 200;
  readonly body: { withdrawals: Withdrawal[]; next_cursor: string | null };
}

/** Lists an agent's withdrawals, newest first. */
export async function listWithdrawals(
  { storage }: Pick<Services, "storage">,
  agentId: string,
  query: PageQuery,
): Promise<WithdrawalPage | Refusal<"request.invalid">> {
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) =>
      listWithdrawalsByAgent(storage.read, { agent_id: agentId, before, limit }),
    keyOf: ({ withdrawal_id }) => withdrawal_id,
    show: (rows) => ({ withdrawals: rows.map(toWithdrawal) }),
  });
}

/**
 * Lists all withdrawals for the operator, with the debts of their accounts, because money paid out from a
 * card payment that is reversed later is lost, and with the revocations of their agents, because a thief of
 * the key may have requested what is still to be paid out. Newest first, or the largest of one state, because
 * otherwise any number of withdrawals of a micro-unit could hide the others.
 */
export async function listAllWithdrawals(
  { storage }: Pick<Services, "storage">,
  { status, sort, ...query }: WithdrawalPageQuery,
): Promise<WithdrawalPage | Refusal<"request.invalid">> {
  const show = (rows: ListedWithdrawal[]) => ({ withdrawals: rows.map(toListedWithdrawal) });
  if (sort === "amount") {
    return createPageAnswer(query, {
      order: largestFirst,
      find: (key, limit) =>
        listLargestWithdrawals(storage.read, {
          status: status ?? "pending",
          ...parseLargestFirst(key),
          limit,
        }),
      keyOf: ({ amount, withdrawal_id }) => formatLargestFirst(amount, withdrawal_id),
      show,
    });
  }
  return createPageAnswer(query, {
    order: textDescending,
    find: (before, limit) => listWithdrawalsByStatus(storage.read, { status, before, limit }),
    keyOf: ({ withdrawal_id }) => withdrawal_id,
    show,
  });
}

function toListedWithdrawal({ balance, agent_revoked_at, ...row }: ListedWithdrawal): Withdrawal {
  const account_owes = toDollars(Math.max(0, -(balance ?? 0)));
  return { ...toWithdrawal(row), account_owes, agent_revoked_at };
}

export function toWithdrawal({ amount, ...row }: WithdrawalRow): Withdrawal {
  return { ...row, amount: toDollars(amount), currency: "USD" };
}

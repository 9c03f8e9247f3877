import { asMicro, fromMicro } from "@agent/budget";
import { limits, type Refusal, type Withdrawal, type WithdrawalStatus } from "@agent/wire";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import type { Services } from "../services.ts";
import type { WithdrawalRow } from "../storage/tables/budget.ts";
import { allWithdrawals, withdrawalsOf } from "./withdrawal-store.ts";

interface Page {
  readonly status?: WithdrawalStatus | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

interface Listed {
  readonly status: 200;
  readonly body: { withdrawals: Withdrawal[]; next_cursor: string | null };
}

/** An agent's withdrawals, or everybody's for the operator, newest first. */
export async function listWithdrawals(
  { storage }: Pick<Services, "storage">,
  agentId: string | undefined,
  { status, limit = limits.pageDefault, cursor: given }: Page,
): Promise<Listed | Refusal<"request.invalid">> {
  const cursor = decodeCursor(given);
  if (!cursor.ok) return cursor;
  // "~" stands above every digit and letter of an id.
  const page = { before: cursor.value ?? "~", limit };
  const rows =
    agentId === undefined
      ? await allWithdrawals(storage.read, { ...page, status })
      : await withdrawalsOf(storage.read, { ...page, agent_id: agentId });
  return {
    status: 200,
    body: {
      withdrawals: rows.map(withdrawalOf),
      next_cursor: encodeCursor(rows, limit, (row) => row.withdrawal_id),
    },
  };
}

export function withdrawalOf({ amount, ...row }: WithdrawalRow): Withdrawal {
  return { ...row, amount: fromMicro(asMicro(amount)), currency: "USD" };
}

import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { DelegationBudgetRow } from "../storage/tables/tasks.ts";

/** An issuer names its tokens, so two issuers may give one name. */
export type TokenName = Pick<DelegationBudgetRow, "issuer_id" | "token_id">;

const usedByName = prepare<TokenName>()(
  db
    .selectFrom("delegation_budgets")
    .select("used")
    .where("issuer_id", "=", p("issuer_id"))
    .where("token_id", "=", p("token_id")),
);

/** In micro-units: open holds, and what was charged. */
export async function usedOf(read: Reader, name: TokenName): Promise<number> {
  return (await read.get(usedByName, name))?.used ?? 0;
}

const begin = prepare<TokenName & { expires_at: number }>()(
  db
    .insertInto("delegation_budgets")
    .values({
      issuer_id: p("issuer_id"),
      token_id: p("token_id"),
      used: 0,
      expires_at: p("expires_at"),
      open_tasks: 0,
    })
    // Nothing keeps an issuer from giving a name twice: the sum lasts as long as the later token.
    .onConflict((conflict) =>
      conflict
        .columns(["issuer_id", "token_id"])
        .doUpdateSet({ expires_at: sql`excluded.expires_at` })
        .where(sql<boolean>`excluded.expires_at > coalesce(delegation_budgets.expires_at, 0)`),
    ),
);

const use = prepare<TokenName & { amount: number; cap: number }>()(
  db
    .updateTable("delegation_budgets")
    .set({ used: sql`used + ${p("amount")}`, open_tasks: sql`open_tasks + 1` })
    .where("issuer_id", "=", p("issuer_id"))
    .where("token_id", "=", p("token_id"))
    .where(sql<boolean>`used + ${p("amount")} <= ${p("cap")}`),
);

/** Adds a task's hold to what a token has been used for; false where that would be above its cap. */
export async function useBudget(
  tx: Tx,
  {
    amount,
    cap,
    expiresAt,
    ...name
  }: TokenName & { readonly amount: number; readonly cap: number; readonly expiresAt: number },
): Promise<boolean> {
  await tx.run(begin, { ...name, expires_at: expiresAt });
  return (await tx.run(use, { ...name, amount, cap })) === 1;
}

const giveBack = prepare<TokenName & { amount: number }>()(
  db
    .updateTable("delegation_budgets")
    .set({ used: sql`used - ${p("amount")}`, open_tasks: sql`max(0, open_tasks - 1)` })
    .where("issuer_id", "=", p("issuer_id"))
    .where("token_id", "=", p("token_id")),
);

/** Ends a task's part in what a token has been used for, but for what was charged. */
export async function returnBudget(tx: Tx, name: TokenName, amount: number): Promise<void> {
  await tx.run(giveBack, { ...name, amount });
}

const removeEnded = prepare<{ until: number; limit: number }>()(
  db.deleteFrom("delegation_budgets").where(
    sql<boolean>`(issuer_id, token_id) in (
        select issuer_id, token_id from delegation_budgets
        where expires_at <= ${p("until")} and open_tasks = 0
        limit ${p("limit")})`,
  ),
);

/** Forgets the sums of tokens that ended by `until` and that no open task counts in. */
export function forgetEnded(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(removeEnded, old);
}

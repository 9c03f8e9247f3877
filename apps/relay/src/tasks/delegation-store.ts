import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { DelegationBudgetRow } from "../storage/tables.ts";

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

const begin = prepare<TokenName>()(
  db
    .insertInto("delegation_budgets")
    .values({ issuer_id: p("issuer_id"), token_id: p("token_id"), used: 0 })
    .onConflict((conflict) => conflict.doNothing()),
);

const use = prepare<TokenName & { amount: number; cap: number }>()(
  db
    .updateTable("delegation_budgets")
    .set({ used: sql`used + ${p("amount")}` })
    .where("issuer_id", "=", p("issuer_id"))
    .where("token_id", "=", p("token_id"))
    .where(sql<boolean>`used + ${p("amount")} <= ${p("cap")}`),
);

/** Adds to what a token has been used for; false, and nothing added, where that is above its cap. */
export async function useBudget(
  tx: Tx,
  { amount, cap, ...name }: TokenName & { readonly amount: number; readonly cap: number },
): Promise<boolean> {
  await tx.run(begin, name);
  return (await tx.run(use, { ...name, amount, cap })) === 1;
}

const giveBack = prepare<TokenName & { amount: number }>()(
  db
    .updateTable("delegation_budgets")
    .set({ used: sql`used - ${p("amount")}` })
    .where("issuer_id", "=", p("issuer_id"))
    .where("token_id", "=", p("token_id")),
);

export async function returnBudget(tx: Tx, name: TokenName, amount: number): Promise<void> {
  await tx.run(giveBack, { ...name, amount });
}

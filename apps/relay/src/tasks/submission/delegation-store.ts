import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import { largerOf } from "../../storage/queries/fragments.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { DelegationBudgetRow } from "../../storage/tables/tasks.ts";

/** An issuer names its tokens, so two issuers may use the same name. */
export type DelegationTokenKey = Pick<DelegationBudgetRow, "issuer_id" | "token_id">;

const usedByName = compile<DelegationTokenKey>()(
  queryBuilder
    .selectFrom("delegation_budgets")
    .select("used")
    .where("issuer_id", "=", param("issuer_id"))
    .where("token_id", "=", param("token_id")),
);

/** Returns open holds and charges, in micro-units. */
export async function getUsedBudget(read: Reader, name: DelegationTokenKey): Promise<number> {
  return (await read.get(usedByName, name))?.used ?? 0;
}

const upsertBudget = compile<DelegationTokenKey & { expires_at: number }>()(
  queryBuilder
    .insertInto("delegation_budgets")
    .values({ ...params("issuer_id", "token_id", "expires_at"), used: 0, open_tasks: 0 })
    // An issuer may use a name twice, so the sum lasts as long as the later token.
    .onConflict((conflict) =>
      conflict
        .columns(["issuer_id", "token_id"])
        .doUpdateSet({ expires_at: sql`excluded.expires_at` })
        .where(sql<boolean>`excluded.expires_at > coalesce(delegation_budgets.expires_at, 0)`),
    ),
);

const addUse = compile<DelegationTokenKey & { amount: number; cap: number }>()(
  queryBuilder
    .updateTable("delegation_budgets")
    .set({ used: sql`used + ${param("amount")}`, open_tasks: sql`open_tasks + 1` })
    .where("issuer_id", "=", param("issuer_id"))
    .where("token_id", "=", param("token_id"))
    .where(sql<boolean>`used + ${param("amount")} <= ${param("cap")}`),
);

/** Adds a task's hold to the used budget of a token; false when that would exceed its cap. */
export async function reserveBudget(
  tx: Tx,
  {
    amount,
    cap,
    expiresAt,
    ...name
  }: DelegationTokenKey & {
    readonly amount: number;
    readonly cap: number;
    readonly expiresAt: number;
  },
): Promise<boolean> {
  await tx.run(upsertBudget, { ...name, expires_at: expiresAt });
  return (await tx.run(addUse, { ...name, amount, cap })) === 1;
}

const subtractUse = compile<DelegationTokenKey & { amount: number }>()(
  queryBuilder
    .updateTable("delegation_budgets")
    .set({
      used: sql`used - ${param("amount")}`,
      open_tasks: largerOf(sql`0`, sql`open_tasks - 1`),
    })
    .where("issuer_id", "=", param("issuer_id"))
    .where("token_id", "=", param("token_id")),
);

/** Removes a task's hold from the used budget of a token, except for its charge. */
export async function releaseBudget(
  tx: Tx,
  name: DelegationTokenKey,
  amount: number,
): Promise<void> {
  await tx.run(subtractUse, { ...name, amount });
}

const reduceUse = compile<DelegationTokenKey & { amount: number }>()(
  queryBuilder
    .updateTable("delegation_budgets")
    .set({ used: sql`used - ${param("amount")}` })
    .where("issuer_id", "=", param("issuer_id"))
    .where("token_id", "=", param("token_id")),
);

/** Removes a part of a task's hold from the used budget of a token, while the rest is still held. */
export async function reduceBudget(
  tx: Tx,
  name: DelegationTokenKey,
  amount: number,
): Promise<void> {
  await tx.run(reduceUse, { ...name, amount });
}

const deleteEnded = compile<{ until: number; limit: number }>()(
  queryBuilder.deleteFrom("delegation_budgets").where(
    sql<boolean>`(issuer_id, token_id) in (
        select issuer_id, token_id from delegation_budgets
        where expires_at <= ${param("until")} and open_tasks = 0
        limit ${param("limit")})`,
  ),
);

/** Deletes the sums of tokens that ended by `until` and have no open task. */
export function purgeDelegationBudgets(
  tx: Tx,
  old: { until: number; limit: number },
): Promise<number> {
  return tx.run(deleteEnded, old);
}

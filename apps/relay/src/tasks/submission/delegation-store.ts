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

const beginQuery = compile<DelegationTokenKey & { expires_at: number; ended_by: number }>()(
  queryBuilder
    .insertInto("delegation_budgets")
    .values({ ...params("issuer_id", "token_id", "expires_at"), used: 0, open_tasks: 0 })
    .onConflict((conflict) =>
      conflict
        .columns(["issuer_id", "token_id"])
        .doUpdateSet({
          expires_at: sql`excluded.expires_at`,
          used: sql`case when delegation_budgets.expires_at <= cast(${param("ended_by")} as bigint)
            and delegation_budgets.open_tasks = 0 then 0 else delegation_budgets.used end`,
        })
        .where(sql<boolean>`excluded.expires_at > coalesce(delegation_budgets.expires_at, 0)`),
    ),
);

/** A submission that was admitted just before its token ended may not be stored yet. */
const LATE_SUBMISSION_MS = 60_000;

/**
 * Creates the used budget of a token. An issuer may reuse a name: a token that ends later continues the
 * sum, or restarts it if the last token of the name had ended and has no open task. Other tokens and the
 * passage of time never end a sum, because a clock that jumped ahead and back makes an ended token valid
 * again.
 */
export async function beginBudget(
  tx: Tx,
  {
    expiresAt,
    now,
    ...name
  }: DelegationTokenKey & { readonly expiresAt: number; readonly now: number },
): Promise<void> {
  await tx.run(beginQuery, { ...name, expires_at: expiresAt, ended_by: now - LATE_SUBMISSION_MS });
}

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
  use: DelegationTokenKey & { readonly amount: number; readonly cap: number },
): Promise<boolean> {
  return (await tx.run(addUse, use)) === 1;
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

const deleteUnused = compile<DelegationTokenKey>()(
  queryBuilder
    .deleteFrom("delegation_budgets")
    .where("issuer_id", "=", param("issuer_id"))
    .where("token_id", "=", param("token_id"))
    .where("used", "=", 0)
    .where("open_tasks", "=", 0),
);

/**
 * Removes a task's hold from the used budget of a token, except for its charge. A sum of zero is deleted,
 * so that free tasks leave no rows.
 */
export async function releaseBudget(
  tx: Tx,
  name: DelegationTokenKey,
  amount: number,
): Promise<void> {
  await tx.run(subtractUse, { ...name, amount });
  await tx.run(deleteUnused, name);
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

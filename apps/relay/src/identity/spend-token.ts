import { limits, refuse, type Refusal } from "@agent/wire";
import type { Services } from "../services.ts";
import { purgeInBatches } from "../storage/run-in-batches.ts";
import type { Tx } from "../storage/storage.ts";
import type { Caller } from "./caller.ts";
import { deleteExpiredSpentTokens, insertSpentToken } from "./spent-token-store.ts";

type SpendDependencies = Pick<Services, "storage" | "runtime">;

/** Marks a signed token as used for a single-use operation; the operator's token can be reused. */
export async function spendToken(
  { storage }: Pick<SpendDependencies, "storage">,
  caller: Caller,
): Promise<Refusal<"auth.token_used"> | undefined> {
  if (caller.kind !== "agent") return undefined;
  const { agentId: agent_id, tokenId: jti, expiresAt: forget_at } = caller;
  const isFirst = await storage.transaction((tx) =>
    insertSpentToken(tx, { agent_id, jti, kind: "used", forget_at }),
  );
  return isFirst ? undefined : refuse("auth.token_used");
}

/** The longest lifetime of a token, including the accepted lead of its issue time. */
const MAX_TOKEN_AGE_MS = limits.clockSkewMs + limits.tokenLifetimeMs;

/** Revokes a token by its id, whether or not it was ever presented. */
export async function revokeToken(
  tx: Tx,
  { agentId, jti, now }: { agentId: string; jti: string; now: number },
): Promise<void> {
  const forget_at = now + MAX_TOKEN_AGE_MS;
  await insertSpentToken(tx, { agent_id: agentId, jti, kind: "revoked", forget_at });
}

/**
 * Purges the ids of tokens that expired so long ago that no small clock change makes them valid again.
 * After a jump it waits until no token from before would be valid, in case the clock is set back.
 */
export async function purgeSpentTokens({
  storage,
  runtime,
  clock,
}: SpendDependencies & Pick<Services, "clock">): Promise<void> {
  if (clock.elapsed() - clock.lastMovedAt() < MAX_TOKEN_AGE_MS) return;
  await purgeInBatches(storage, deleteExpiredSpentTokens, {
    now: runtime.now() - MAX_TOKEN_AGE_MS,
  });
}

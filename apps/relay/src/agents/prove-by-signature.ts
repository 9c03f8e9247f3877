import { refuse, type Refusal } from "@agent/wire";
import type { Caller } from "../identity/caller.ts";
import type { TokenKey } from "../identity/tokens.ts";
import type { Services } from "../services.ts";
import { isProvenKey } from "./key-proof-store.ts";
import { forgetDisplaced, proveKey } from "./prove-key.ts";

type Parts = Pick<Services, "storage" | "freezer" | "runtime" | "tokens" | "connections">;

/**
 * Notes that a key is proven, because a token or a receipt that names the agent verified under it.
 * Refused when the key was proven under another id meanwhile. A frozen relay notes nothing.
 */
export async function proveBySignature(
  services: Parts,
  key: TokenKey,
  caller: Caller,
): Promise<Refusal<"agent.key_displaced"> | undefined> {
  const { storage, freezer, runtime } = services;
  if (freezer.frozen() !== undefined || (await isProvenKey(storage.read, key))) return undefined;
  const proven = await storage.transaction((tx) =>
    proveKey(tx, { ...key, now: runtime.now(), caller }),
  );
  if (!proven.ok) return refuse("agent.key_displaced");
  forgetDisplaced(services, proven.displaced);
  return undefined;
}

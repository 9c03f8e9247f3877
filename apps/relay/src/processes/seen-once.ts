import type { Storage } from "../storage/storage.ts";
import { addSeen } from "./seen-store.ts";

/** A set of keys that are accepted once within a lifetime, such as signatures. */
export interface SeenOnce {
  /** Adds a key and returns whether it was new at `now` (ms). */
  add(key: string, now: number): boolean | Promise<boolean>;
}

/** Returns a set that all processes share. */
export function createSharedOnce(
  storage: Pick<Storage, "runAlone">,
  { kind, lifetimeMs }: { readonly kind: string; readonly lifetimeMs: number },
): SeenOnce {
  return {
    add: (key, now) => addSeen(storage, { kind, key, now, forget_at: now + lifetimeMs }),
  };
}

import {
  hexToBytes,
  isJsonObject,
  type JsonMembers,
  unlessMalformed,
  verifyJson,
  verifyJsonAsync,
} from "@agent/crypto";
import { listRelays } from "../discovery/route.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import type { TaskForward } from "../messages/task.ts";

/** The receiver's view of the relays that a forward's path names. */
export interface HopContext {
  /** The relay that signed the request. */
  readonly from: string;
  /**
   * Returns the receiver's pinned key of a relay in 64 hex digits; null for a removed relay,
   * undefined for an unknown one.
   */
  readonly findKey: (relayId: string) => string | null | undefined;
  /** The maximum number of unknown relays that count as hops: that of the listing, or 3. */
  readonly federationHops: number;
}

/**
 * A relay before the sender, with its forward of the task if the message carries a matching one.
 */
interface EarlierHop {
  readonly relayId: string;
  readonly forward: object | null;
}

/** Lists the relays that a task has passed according to its path, the sender last. */
export function listPassedRelays(
  { routing_choice }: Pick<TaskForward, "routing_choice">,
  from: string,
): readonly string[] {
  const relays = listRelays(routing_choice?.path ?? []);
  return relays.slice(0, relays.lastIndexOf(from) + 1);
}

/**
 * Counts the relays whose fees may be missing from a forward's payment. The sender is one. An earlier relay
 * counts if the message contains its signed forward of the same task to the next relay, under a key that
 * the receiver has pinned, because a path alone may name any relay. Unknown relays prove nothing and count
 * up to `federationHops`. `body` is the message with its unknown members.
 */
export function countPassedHops(body: unknown, message: TaskForward, context: HopContext): number {
  const hops = buildEarlierHops(body, message, context.from);
  const proven = hops.map(({ relayId, forward }) => {
    const key = parseKey(context.findKey(relayId));
    return key !== null && forward !== null && verifyJson(forward, key);
  });
  return countHops(hops, proven, context);
}

/**
 * Does the same as `countPassedHops`, with the signatures verified off the event loop where there
 * are threads.
 */
export async function countPassedHopsAsync(
  body: unknown,
  message: TaskForward,
  context: HopContext,
): Promise<number> {
  const hops = buildEarlierHops(body, message, context.from);
  const proven = await Promise.all(
    hops.map(async ({ relayId, forward }) => {
      const key = parseKey(context.findKey(relayId));
      return key !== null && forward !== null && (await verifyJsonAsync(forward, key));
    }),
  );
  return countHops(hops, proven, context);
}

/** Lists the relays before the sender whose keys the receiver needs, nearest first. */
export function listEarlierRelays(message: TaskForward, from: string): string[] {
  const earlier = listPassedRelays(message, from).filter((relayId) => relayId !== from);
  return [...new Set(earlier.toReversed())].slice(0, FEDERATION_LIMITS.maxHops - 1);
}

function buildEarlierHops(body: unknown, message: TaskForward, from: string): EarlierHop[] {
  const { task_payload } = asObject(body) ?? {};
  let nestedForward = asObject(body)?.["relayed"];
  let receiver = from;
  return listEarlierRelays(message, from).map((relayId) => {
    const members = asObject(nestedForward);
    const isOfThisHop =
      members !== undefined &&
      members["task_id"] === message.task_id &&
      members["target_agent"] === message.target_agent &&
      members["origin_relay"] === relayId &&
      members["to"] === receiver;
    nestedForward = members?.["relayed"];
    receiver = relayId;
    return { relayId, forward: isOfThisHop ? { ...members, task_payload } : null };
  });
}

function countHops(
  hops: readonly EarlierHop[],
  proven: readonly boolean[],
  { findKey, federationHops }: HopContext,
): number {
  const certain = 1 + proven.filter(Boolean).length;
  const unknown = hops.filter(({ relayId }) => findKey(relayId) === undefined).length;
  return Math.max(certain, Math.min(certain + unknown, federationHops));
}

function asObject(value: unknown): JsonMembers | undefined {
  return isJsonObject(value) ? value : undefined;
}

function parseKey(key: string | null | undefined): Uint8Array | null {
  if (key === null || key === undefined) return null;
  return unlessMalformed(() => hexToBytes(key)) ?? null;
}

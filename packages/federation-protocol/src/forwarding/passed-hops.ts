import { EncodingError, hexToBytes, verifyJson, verifyJsonAsync } from "@agent/crypto";
import { listRelays } from "../discovery/route.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import type { TaskForward } from "../messages/task.ts";

/** What the receiver of a forward knows of the relays that its path names. */
export interface HopContext {
  /** The relay that signed the request. */
  readonly from: string;
  /**
   * The key of a relay as the receiver pinned it, in 64 hex digits; null for one that it removed, and
   * undefined for one that it has never met.
   */
  readonly findKey: (relayId: string) => string | null | undefined;
  /** Up to how many hops relays count that the receiver has never met: the listing's, or 3. */
  readonly federationHops: number;
}

/** A relay before the sender, with its forward of the task where the message carries one that fits. */
interface EarlierHop {
  readonly relayId: string;
  readonly forward: object | null;
}

/** The relays that a task came through, the sender last, as far as its path tells. */
export function listPassedRelays(
  { routing_choice }: Pick<TaskForward, "routing_choice">,
  from: string,
): readonly string[] {
  const relays = listRelays(routing_choice?.path ?? []);
  return relays.slice(0, relays.lastIndexOf(from) + 1);
}

/**
 * By how many hops the payment of a forward may be less than the price. The sender is one. A relay
 * before it counts if the message carries its signed forward of the same task to the next relay, under
 * a key that the receiver pinned; its path names anything. Relays that the receiver has never met prove
 * nothing, and count up to `federationHops`. `body` is the message as it came.
 */
export function countPassedHops(body: unknown, message: TaskForward, context: HopContext): number {
  const hops = buildEarlierHops(body, message, context.from);
  const proven = hops.map(({ relayId, forward }) => {
    const key = parseKey(context.findKey(relayId));
    return key !== null && forward !== null && verifyJson(forward, key);
  });
  return countHops(hops, proven, context);
}

/** As `countPassedHops`, with the signatures checked off the event loop where there are threads. */
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

/** The relays before the sender whose keys the receiver needs to know, the nearest first. */
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
  { findKey: keyOf, federationHops }: HopContext,
): number {
  const certain = 1 + proven.filter(Boolean).length;
  const unknown = hops.filter(({ relayId }) => keyOf(relayId) === undefined).length;
  return Math.max(certain, Math.min(certain + unknown, federationHops));
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : undefined;
}

function parseKey(key: string | null | undefined): Uint8Array | null {
  if (key === null || key === undefined) return null;
  try {
    return hexToBytes(key);
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
}

import type { CallRefusal } from "@agent/client";
import type { AttemptCounter } from "../../gradient/counts.ts";
import { createJoinCycle } from "./join-cycle.ts";
import type { RelayPin } from "../check-relay-pins.ts";
import {
  publishProfile,
  joinRelay,
  type JoinOptions,
  type JoinResult,
  type Membership,
} from "./join-relay.ts";

export interface MaintainedMembership {
  readonly membership: () => Membership | undefined;
  /** Joins and keeps the membership; resolves after the first attempt. */
  start(endpointUrl: string | undefined): Promise<JoinResult>;
  /**
   * Called when the relay accepts this agent's device; `isReconnect`: after the connection was
   * lost.
   */
  handleAccepted(isReconnect: boolean): void;
  /** Called when the relay refuses the device. */
  handleRefused(): void;
  stop(): void;
}

/**
 * Maintains an agent's membership at its relay: a heartbeat every `syncIntervalMs`, and a new
 * registration of whatever the relay has lost. `joined` is called for each new membership, `synced`
 * after each heartbeat.
 */
export function maintainMembership(
  options: Omit<JoinOptions, "endpointUrl" | "relayPins"> & {
    readonly syncIntervalMs: number;
    /**
     * The relay's key that the owner configured; without it the first relay that answers is joined.
     */
    readonly relayKey?: string | undefined;
  },
  on: {
    joined: () => void;
    synced: (membership: Membership) => Promise<void>;
    heartbeats: Pick<AttemptCounter, "record">;
  },
): MaintainedMembership {
  const { identity, runtime } = options;
  let membership: Membership | undefined;
  let pinned: RelayPin | undefined;
  let endpointUrl: string | undefined;
  let isPublished = true;
  let hasRejoined = false;
  const cycle = createJoinCycle({ run: syncOrJoin, intervalMs: options.syncIntervalMs, runtime });

  const named: readonly RelayPin[] =
    options.relayKey === undefined ? [] : [{ publicKey: options.relayKey }];

  /** Joins the relay; the one joined before must prove a new key. */
  async function joinPinned(): Promise<JoinResult> {
    const relayPins = pinned === undefined ? named : [...named, pinned];
    const result = await joinRelay({ ...options, endpointUrl, relayPins });
    if (result.ok) pinned = result.membership.relay;
    return result;
  }

  async function tryToJoin(): Promise<JoinResult> {
    const result = await joinPinned();
    if (!result.ok) {
      const { code, status, message } = result;
      runtime.log("warn", "relay.join_failed", { url: options.url, code, status, reason: message });
      return result;
    }
    isPublished = true;
    membership = result.membership;
    runtime.log("info", "relay.joined", { relay_id: membership.relay.relayId });
    on.joined();
    return result;
  }

  /**
   * Publishes the profile again, because a relay restored from a backup may know the agent but not
   * its listing.
   */
  async function republishProfile(): Promise<void> {
    if (membership === undefined) return;
    const answer = await publishProfile(membership.client, { ...options, endpointUrl });
    isPublished = answer.ok;
    if (answer.ok) return;
    runtime.log("warn", "relay.announce_failed", { code: answer.code, status: answer.status });
    if (UNKNOWN_AGENT_CODES.has(answer.code)) rejoin();
  }

  /** Joins again at once; after a failure the next attempt waits for its time. */
  function rejoin(): void {
    membership = undefined;
    if (!hasRejoined && cycle.runNow()) hasRejoined = true;
  }

  async function sync(current: Membership): Promise<void> {
    const heartbeat = await current.client.heartbeat({ body: { agent_id: identity.agentId } });
    on.heartbeats.record(heartbeat.ok);
    if (!heartbeat.ok && UNKNOWN_AGENT_CODES.has(heartbeat.code)) {
      runtime.log("warn", "relay.forgot_agent", { code: heartbeat.code });
      membership = undefined;
      return;
    }
    if (!isPublished) await republishProfile();
    await on.synced(current);
  }

  async function syncOrJoin(): Promise<JoinResult | undefined> {
    if (membership !== undefined) await sync(membership);
    // A relay that lost this agent is joined again at once instead of one interval later.
    return membership === undefined && !cycle.stopped ? tryToJoin() : undefined;
  }

  return {
    membership: () => membership,
    async start(address) {
      endpointUrl = address;
      return (await cycle.start()) ?? NOT_JOINED_REFUSAL;
    },
    handleAccepted(isReconnect) {
      hasRejoined = false;
      if (!isReconnect) return;
      isPublished = false;
      void republishProfile();
    },
    handleRefused: rejoin,
    stop: () => cycle.stop(),
  };
}

/** The codes of a relay that no longer knows this agent, for example after it lost its data. */
const UNKNOWN_AGENT_CODES: ReadonlySet<string> = new Set([
  "agent.not_found",
  "auth.device_not_authorized",
  "auth.verification_failed",
]);

export const NOT_JOINED_REFUSAL: CallRefusal = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "The relay has not been joined yet",
};

import type { CallRefusal } from "@agent/client";
import type { AttemptCounter } from "../../gradient/counts.ts";
import { createJoinCycle } from "./join-cycle.ts";
import type { RelayPin } from "../judge-relay.ts";
import {
  publishProfile,
  joinRelay,
  type JoinOptions,
  type JoinResult,
  type Membership,
} from "./join-relay.ts";

export interface MaintainedMembership {
  readonly membership: () => Membership | undefined;
  /** Joins, and stays joined; resolves after the first attempt. */
  start(endpointUrl: string | undefined): Promise<JoinResult>;
  /** The relay let this agent's device in; `again`: after the connection was lost. */
  handleAccepted(isReconnect: boolean): void;
  /** The relay does not let it in. */
  handleRefused(): void;
  stop(): void;
}

/**
 * Keeps an agent a member of its relay: a heartbeat every `syncIntervalMs`, and whatever the relay lost
 * of it once more. `joined` is told of each new membership, `synced` of each heartbeat.
 */
export function maintainMembership(
  options: Omit<JoinOptions, "endpointUrl" | "relayPins"> & {
    readonly syncIntervalMs: number;
    /** The key that the owner named; without it the first relay that answers is joined. */
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

  /** The relay that was joined before must prove a new key. */
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
      runtime.log("warn", "relay.join_failed", { code, status, reason: message });
      return result;
    }
    isPublished = true;
    membership = result.membership;
    runtime.log("info", "relay.joined", { relay_id: membership.relay.relayId });
    on.joined();
    return result;
  }

  /** One that came back from a backup may know the agent, but not what it offers. */
  async function republishProfile(): Promise<void> {
    if (membership === undefined) return;
    const answer = await publishProfile(membership.client, { ...options, endpointUrl });
    isPublished = answer.ok;
    if (answer.ok) return;
    runtime.log("warn", "relay.announce_failed", { code: answer.code, status: answer.status });
    if (unknownAgentCodes.has(answer.code)) rejoin();
  }

  /** Joins anew: at once, but a second time in vain only when it is due. */
  function rejoin(): void {
    membership = undefined;
    if (!hasRejoined && cycle.hurry()) hasRejoined = true;
  }

  async function sync(current: Membership): Promise<void> {
    const heartbeat = await current.client.heartbeat({ body: { agent_id: identity.agentId } });
    on.heartbeats.record(heartbeat.ok);
    if (!heartbeat.ok && unknownAgentCodes.has(heartbeat.code)) {
      runtime.log("warn", "relay.forgot_agent", { code: heartbeat.code });
      membership = undefined;
      return;
    }
    if (!isPublished) await republishProfile();
    await on.synced(current);
  }

  async function syncOrJoin(): Promise<JoinResult | undefined> {
    if (membership !== undefined) await sync(membership);
    // A relay that lost this agent is joined again at once, not a whole interval later.
    return membership === undefined && !cycle.stopped ? tryToJoin() : undefined;
  }

  return {
    membership: () => membership,
    async start(address) {
      endpointUrl = address;
      return (await cycle.start()) ?? notJoinedRefusal;
    },
    handleAccepted(again) {
      hasRejoined = false;
      if (!again) return;
      isPublished = false;
      void republishProfile();
    },
    handleRefused: rejoin,
    stop: () => cycle.stop(),
  };
}

/** Answers of a relay that no longer knows this agent, as after it lost its memory. */
const unknownAgentCodes: ReadonlySet<string> = new Set([
  "agent.not_found",
  "auth.device_not_authorized",
  "auth.verification_failed",
]);

export const notJoinedRefusal: CallRefusal = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "The relay has not been joined yet",
};

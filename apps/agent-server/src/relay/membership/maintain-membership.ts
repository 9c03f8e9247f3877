import { isOfRelay, type CallRefusal } from "@agent/client";
import type { AttemptCounter } from "../../gradient/counts.ts";
import { createFaultLog } from "../fault-log.ts";
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
  /** Called when the socket of the device is refused, by the relay or by a proxy that forwards no sockets. */
  handleSocketRefused(): void;
  stop(): void;
}

/**
 * Maintains an agent's membership at its relay: a heartbeat every `syncIntervalMs`, and a new
 * registration of whatever the relay has lost. `joined` is called for each new membership, `synced`
 * after each heartbeat, and `retrySocket` when a heartbeat is accepted after the socket was refused.
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
    retrySocket: () => void;
    synced: (membership: Membership) => Promise<void>;
    heartbeats: Pick<AttemptCounter, "record">;
  },
): MaintainedMembership {
  const { identity, runtime } = options;
  let membership: Membership | undefined;
  let pinned: RelayPin | undefined;
  let endpointUrl: string | undefined;
  let isPublished = true;
  let isSocketRefused = false;
  let hasAskedAtOnce = false;
  const cycle = createJoinCycle({ run: syncOrJoin, intervalMs: options.syncIntervalMs, runtime });

  const { log } = runtime;
  const faults = {
    join: createFaultLog(log, "warn", "relay.join_failed"),
    heartbeat: createFaultLog(log, "warn", "relay.heartbeat_failed"),
    announcement: createFaultLog(log, "warn", "relay.announce_failed"),
  };
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
      faults.join.note(result, { url: options.url, reason: result.message });
      return result;
    }
    isPublished = true;
    isSocketRefused = false;
    membership = result.membership;
    for (const fault of Object.values(faults)) fault.clear();
    log("info", "relay.joined", { relay_id: membership.relay.relayId });
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
    if (answer.ok) return void faults.announcement.clear();
    faults.announcement.note(answer);
    if (!UNKNOWN_AGENT_CODES.has(answer.code)) return;
    membership = undefined;
    syncAtOnce();
  }

  /** Syncs or joins at once; until the relay accepts this device, further attempts wait for their time. */
  function syncAtOnce(): void {
    if (!hasAskedAtOnce && cycle.runNow()) hasAskedAtOnce = true;
  }

  async function sync(current: Membership): Promise<void> {
    const heartbeat = await current.client.heartbeat({ body: { agent_id: identity.agentId } });
    on.heartbeats.record(heartbeat.ok);
    if (!heartbeat.ok && isRejected(heartbeat)) {
      log("warn", "relay.forgot_agent", { code: heartbeat.code });
      membership = undefined;
      return;
    }
    if (!heartbeat.ok) faults.heartbeat.note(heartbeat, { reason: heartbeat.message });
    else if (faults.heartbeat.clear()) log("info", "relay.reached_again");
    if (heartbeat.ok && isSocketRefused) {
      isSocketRefused = false;
      on.retrySocket();
    }
    if (!isPublished) await republishProfile();
    await on.synced(current);
  }

  /**
   * A relay that refuses the socket as well has lost or revoked this agent; a proxy's page proves nothing.
   */
  function isRejected({ code, status }: CallRefusal): boolean {
    if (UNKNOWN_AGENT_CODES.has(code)) return true;
    return isSocketRefused && ACCESS_STATUSES.has(status) && isOfRelay({ code });
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
      hasAskedAtOnce = false;
      if (!isReconnect) return;
      isPublished = false;
      void republishProfile();
    },
    // The membership stays until a heartbeat is refused too: behind a proxy without sockets the agent works
    // over MCP, and without a membership it could neither recognize its relay nor deliver a ledger.
    handleSocketRefused() {
      isSocketRefused = true;
      syncAtOnce();
    },
    stop: () => cycle.stop(),
  };
}

/** The codes of a relay that no longer knows this agent, for example after it lost its data. */
const UNKNOWN_AGENT_CODES: ReadonlySet<string> = new Set([
  "agent.not_found",
  "auth.device_not_authorized",
  "auth.verification_failed",
]);

const ACCESS_STATUSES: ReadonlySet<number> = new Set([401, 403, 404]);

export const NOT_JOINED_REFUSAL: CallRefusal = {
  ok: false,
  code: "network.unreachable",
  status: 0,
  message: "The relay has not been joined yet",
};

import { createRelayClient, delegate } from "@agent/client";
import { findFreePort } from "@agent/testkit";
import { vi } from "vitest";
import { MASTER_TOKEN, startRelayProcess, type RelayProcess } from "../../start-relay-process.ts";
import { joinRelay, type RealAgent, unwrapBody } from "./real-agent.ts";

const TIMEOUT_MS = 40_000;

/** The maximum debt in USD between the middle relay and each peer, in either direction. */
export const CREDIT_LIMIT = 10;
/** The tasks between the middle and the southern relay, and the debt of the southern one: 2 x 1.90 - 0.475. */
export const TRAFFIC = { tasks: 3, owed: 3.325 } as const;

/**
 * Three relays: the middle one has done more work for one peer than the peer for it, and has lost contact with
 * the other. The lost peer is removed two heartbeats later, so tests must check it at once.
 */
export interface RelayNetwork {
  readonly middle: RelayProcess;
  readonly close: () => Promise<void>;
}

/** Starts the relays, lets tasks cross between two of them, and kills the third. */
export async function createRelayNetwork({ heartbeatMs = 4_000 } = {}): Promise<RelayNetwork> {
  const [middle, south, north] = [
    await startPeer("center", heartbeatMs),
    await startPeer("south", heartbeatMs),
    await startPeer("north", heartbeatMs),
  ];
  const operator = createRelayClient({
    baseUrl: middle.baseUrl,
    identity: { masterToken: MASTER_TOKEN },
  });
  for (const { baseUrl } of [south, north]) {
    const { relay_id } = unwrapBody(await operator.addPeer({ body: { endpoint_url: baseUrl } }));
    const body = { credit_limit: CREDIT_LIMIT };
    unwrapBody(await operator.setPeerCredit({ params: { relayId: relay_id }, body }));
  }
  const research = await joinRelay(middle.baseUrl, {
    name: "research",
    capability: "write-report",
    price: 2,
    answer: async () => ({ result: "A report.", tools_used: ["write-report"] }),
  });
  const linguist = await joinRelay(south.baseUrl, {
    name: "linguist",
    capability: "stem-words",
    price: 0.5,
    answer: async () => ({ result: "word", tools_used: ["stem-words"] }),
  });
  const buyers = {
    south: await joinRelay(south.baseUrl, { name: "buyer" }),
    middle: await joinRelay(middle.baseUrl, { name: "buyer" }),
  };
  await payInto(south.baseUrl, buyers.south, 50);
  await payInto(middle.baseUrl, buyers.middle, 50);
  await delegateTo(buyers.south, research, "a report for the south");
  await delegateTo(buyers.south, research, "another report for the south");
  await delegateTo(buyers.middle, linguist, "words");
  await north.stop("SIGKILL");
  await vi.waitUntil(
    async () => {
      const { peers } = unwrapBody(await operator.listFederationPeers());
      const isOwed = peers.some(({ position }) => position === -TRAFFIC.owed);
      return isOwed && peers.some(({ state }) => state === "suspended");
    },
    { timeout: 10 * heartbeatMs, interval: 100 },
  );
  return {
    middle,
    async close() {
      research.close();
      linguist.close();
      await Promise.all([middle.stop(), south.stop()]);
    },
  };
}

async function delegateTo(buyer: RealAgent, worker: RealAgent, prompt: string): Promise<void> {
  const task = { agentId: worker.agentId, prompt, timeoutMs: TIMEOUT_MS };
  const delegated = await delegate(buyer.client, task);
  if (!delegated.ok) throw new Error(`${delegated.code}: ${delegated.message}`);
}

async function startPeer(name: string, heartbeatMs: number): Promise<RelayProcess> {
  const port = String(await findFreePort());
  return startRelayProcess(undefined, {
    PORT: port,
    AGENT_RELAY_NAME: name,
    AGENT_RATE_LIMIT_SCALE: "0",
    AGENT_FEDERATION_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
    AGENT_FEDERATION_HEARTBEAT_INTERVAL_MS: String(heartbeatMs),
    AGENT_FEDERATION_RETRY_SCALE: "0.03",
  });
}

async function payInto(baseUrl: string, agent: RealAgent, amount: number): Promise<void> {
  const operator = createRelayClient({ baseUrl, identity: { masterToken: MASTER_TOKEN } });
  unwrapBody(await operator.deposit({ params: agent, body: { amount, reference: "the first" } }));
}

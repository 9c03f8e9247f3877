import { createServer, type AddressInfo } from "node:net";
import { createRelayClient, delegate } from "@agent/client";
import { vi } from "vitest";
import { MASTER_TOKEN, startRelayProcess, type RelayProcess } from "../../start-relay-process.ts";
import { joinRelay, type RealAgent, unwrapBody } from "./real-agent.ts";

const TIMEOUT_MS = 40_000;

/**
 * Three relays: the middle one is owed by one peer, and has lost the other. Two heartbeats later the
 * lost one is removed, so look at them at once.
 */
export interface RelayNetwork {
  readonly middle: RelayProcess;
  readonly close: () => Promise<void>;
}

/** Starts the relays, lets one task cross between two of them, and kills the third. */
export async function createRelayNetwork(): Promise<RelayNetwork> {
  const [middle, south, north] = [
    await startPeer("center"),
    await startPeer("south"),
    await startPeer("north"),
  ];
  const operator = createRelayClient({
    baseUrl: middle.baseUrl,
    identity: { masterToken: MASTER_TOKEN },
  });
  for (const { baseUrl } of [south, north]) {
    unwrapBody(await operator.addPeer({ body: { endpoint_url: baseUrl } }));
  }
  const worker = await joinRelay(middle.baseUrl, {
    name: "research",
    capability: "write-report",
    price: 2,
    answer: async () => ({ result: "A report.", tools_used: ["write-report"] }),
  });
  const buyer = await joinRelay(south.baseUrl, { name: "buyer" });
  await payInto(south.baseUrl, buyer, 50);
  const delegated = await delegate(buyer.client, {
    agentId: worker.agentId,
    prompt: "a report for the south",
    timeoutMs: TIMEOUT_MS,
  });
  if (!delegated.ok) throw new Error(`${delegated.code}: ${delegated.message}`);
  await north.stop("SIGKILL");
  await vi.waitUntil(
    async () => {
      const { peers } = unwrapBody(await operator.listFederationPeers());
      const isOwed = peers.some(({ position }) => position < 0);
      return isOwed && peers.some(({ state }) => state === "suspended");
    },
    { timeout: TIMEOUT_MS, interval: 100 },
  );
  return {
    middle,
    async close() {
      worker.close();
      await Promise.all([middle.stop(), south.stop()]);
    },
  };
}

async function startPeer(name: string): Promise<RelayProcess> {
  const port = String(await findFreePort());
  return startRelayProcess(undefined, {
    PORT: port,
    AGENT_RELAY_NAME: name,
    AGENT_RATE_LIMIT_SCALE: "0",
    AGENT_FEDERATION_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
    AGENT_FEDERATION_HEARTBEAT_INTERVAL_MS: "4000",
    AGENT_FEDERATION_RETRY_SCALE: "0.03",
  });
}

async function payInto(baseUrl: string, agent: RealAgent, amount: number): Promise<void> {
  const operator = createRelayClient({ baseUrl, identity: { masterToken: MASTER_TOKEN } });
  unwrapBody(await operator.deposit({ params: agent, body: { amount, reference: "the first" } }));
}

/** Returns a port that is free now, for a relay whose address others must know. */
async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

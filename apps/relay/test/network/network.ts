import type { IncomingHttpHeaders } from "node:http";
import {
  createManualClock,
  createReceipt,
  createSeededRandom,
  findFreePort,
  type ManualClock,
  type TestAgent,
} from "@agent/testkit";
import type { FederationPeer, Task } from "@agent/wire";
import { expect } from "vitest";
import { serve, type RunningServer } from "../../src/serve.ts";
import { startLossyProxy, type LossyProxy, type ProxyAction } from "./lossy-proxy.ts";
import { startTestRelay, type Reply, type TestRelay } from "../test-relay.ts";

/** A relay on a real socket. */
export interface TestSite extends TestRelay {
  readonly name: string;
  readonly relayId: string;
  readonly url: string;
  readonly port: number;
  /** Stops it like a process that ends; its database remains. */
  stop(): Promise<void>;
}

export interface SiteOptions {
  readonly name: string;
  readonly clock: ManualClock;
  readonly seed: number;
  readonly env?: Record<string, string>;
  /** The address that others are given, if it differs from that of its own port. */
  readonly url?: string;
  readonly port?: number;
}

export async function startSite({ name, clock, seed, env, ...at }: SiteOptions): Promise<TestSite> {
  const port = at.port ?? (await findFreePort());
  const url = at.url ?? `http://127.0.0.1:${port}`;
  const t = await startTestRelay(
    {
      AGENT_FEDERATION_ENDPOINT_URL: url,
      AGENT_RELAY_NAME: name,
      AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
      ...env,
    },
    seed,
    clock,
  );
  const { randomBytes } = createSeededRandom(seed + 1_000);
  const runtime = { now: clock.now, schedule: clock.schedule, randomBytes };
  const serving: RunningServer = await serve(t.relay, runtime, { host: "127.0.0.1", port });
  return {
    ...t,
    name,
    url,
    port,
    relayId: t.relay.relayId,
    stop: () => serving.stop(0),
    close: () => serving.stop(0),
  };
}

/** Starts relays that share a clock, peered along the given pairs. */
export async function startNetwork(
  names: readonly string[],
  pairs: readonly (readonly [number, number])[],
  env: Record<string, string> = {},
) {
  const clock = createManualClock();
  const sites = await Promise.all(
    names.map((name, at) => startSite({ name, clock, seed: at + 1, env })),
  );
  for (const [a, b] of pairs) await addPeer(sites[a]!, sites[b]!);
  return {
    clock,
    sites,
    async close() {
      let isClosed = false;
      const closing = Promise.all(sites.map((site) => site.close())).then(() => {
        isClosed = true;
      });
      // A job that waits for a stopped relay ends only when the test advances the clock.
      while (!isClosed) {
        await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, 1_000))]);
        if (!isClosed) await clock.advance(60_000);
      }
    },
  };
}

export interface TwoSitesOptions {
  readonly clock?: ManualClock;
  /** Chooses the action for each request between the two relays. */
  readonly chooseAction?: (path: string, headers: IncomingHttpHeaders) => ProxyAction;
  /** The environments of the two relays. */
  readonly alpha?: Record<string, string>;
  readonly beta?: Record<string, string>;
  /** The balance of the boss, in dollars. */
  readonly deposit?: number;
}

/** Two peered relays behind proxies: a boss with money at alpha, and a worker that charges 1 dollar at beta. */
export interface TwoSites {
  readonly clock: ManualClock;
  readonly proxies: readonly [LossyProxy, LossyProxy];
  readonly a: TestSite;
  readonly b: TestSite;
  readonly boss: TestAgent;
  readonly worker: TestAgent;
}

export async function startTwoSites({
  clock = createManualClock(),
  chooseAction = () => "pass",
  alpha = {},
  beta = {},
  deposit = 10,
}: TwoSitesOptions = {}): Promise<TwoSites> {
  const proxies = [
    await startLossyProxy(chooseAction),
    await startLossyProxy(chooseAction),
  ] as const;
  const a = await startBehindProxy(proxies[0], { name: "alpha", clock, seed: 1, env: alpha });
  const b = await startBehindProxy(proxies[1], { name: "beta", clock, seed: 2, env: beta });
  await addPeer(a, b);
  const boss = await a.createAgent();
  await a.deposit(boss, deposit);
  return { clock, proxies, a, b, boss, worker: await b.createWorker(1) };
}

/** Starts a relay that others reach through a proxy, and directs the proxy to it. */
export async function startBehindProxy(
  proxy: LossyProxy,
  options: Omit<SiteOptions, "url">,
): Promise<TestSite> {
  const site = await startSite({ ...options, url: proxy.url });
  proxy.to(`http://127.0.0.1:${site.port}`);
  return site;
}

/** Closes relays, and then the proxies in front of them. */
export async function closeSites(
  sites: readonly TestSite[],
  proxies: readonly LossyProxy[],
): Promise<void> {
  await Promise.all(sites.map((site) => site.close()));
  await Promise.all(proxies.map((proxy) => proxy.close()));
}

/**
 * Moves the clock in steps and runs the jobs of all relays after each, until a condition is true. A running job
 * first gets a second of real time, because advancing the clock would cause its timeout.
 */
export function advanceUntil(
  clock: ManualClock,
  sites: readonly TestSite[],
  { stepMs, what }: { readonly stepMs: number; readonly what: string },
  condition: () => Promise<boolean> | boolean,
): Promise<boolean> {
  return waitUntil(async () => {
    if (await condition()) return true;
    await clock.advance(stepMs);
    await Promise.all(sites.map((site) => site.relay.tick()));
    const idle = Promise.all(sites.map((site) => site.relay.idle()));
    await Promise.race([idle, new Promise((resolve) => setTimeout(resolve, 1_000))]);
    return false;
  }, what);
}

export async function addPeer(a: TestSite, b: TestSite): Promise<void> {
  const path = "/api/v1/admin/federation/peers";
  const { status, body } = await a.asOperator("POST", path, { endpoint_url: b.url });
  if (status !== 200) throw new Error(JSON.stringify(body));
}

/** Waits longer where jobs of several days are run, or where each statement is a round trip to a server. */
const WAIT_MS = Number(process.env["AGENT_TEST_WAIT_MS"] ?? 25_000);

/** Returns the first result of a condition; waits in real time, because sockets need it. */
export async function waitUntil<T>(
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  what = "it",
  ms = WAIT_MS,
): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const found = await condition();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Submits a task that the relay assigns to the best-ranked agent. */
export async function submitToBest(
  site: Pick<TestSite, "as">,
  boss: TestAgent,
  { capability = "summarise", ...rest }: { capability?: string; max_budget?: number } = {},
): Promise<Reply> {
  return site.as(boss, "POST", `/agent/${boss.agentId}/task`, {
    prompt: "work",
    required_capabilities: [capability],
    ...rest,
  });
}

/** Waits for a worker's first task. */
export function waitForTask(site: TestSite, worker: TestAgent, taskId?: string): Promise<Task> {
  return waitUntil(async () => {
    const path = `/agent/${worker.agentId}/tasks?status=pending`;
    const { body } = await site.as(worker, "GET", path);
    return (body["tasks"] as Task[]).find(
      ({ task_id }) => taskId === undefined || task_id === taskId,
    );
  }, `a task for a worker of ${site.name}`);
}

/** Completes a task as its worker. */
export async function completeTask(site: TestSite, worker: TestAgent, task: Task): Promise<Reply> {
  const path = `/agent/${task.agent_id}/task/${task.task_id}/result`;
  return site.as(worker, "POST", path, createReceipt(worker, task));
}

/** Returns all visible amounts of a relay's money. */
export async function getReconciliation(site: Pick<TestSite, "asOperator">) {
  const { body } = await site.asOperator("GET", "/api/v1/admin/reconciliation");
  return body as {
    consistent: boolean;
    checks: { name: string; ok: boolean; detail: string }[];
    totals: Record<string, number>;
  };
}

/** Lists the peers of a relay as its operator sees them. */
export async function listPeers(site: Pick<TestSite, "asOperator">): Promise<FederationPeer[]> {
  const { body } = await site.asOperator("GET", "/api/v1/admin/federation/peers");
  return body["peers"] as FederationPeer[];
}

/** Ends the peering of a relay with another one, as its operator. */
export async function removePeer(by: TestSite, { relayId }: TestSite): Promise<void> {
  const path = `/api/v1/admin/federation/peers/${relayId}`;
  expect(await by.asOperator("DELETE", path)).toMatchObject({ status: 200 });
}

/** Claims a task at a path, as soon as the relay has given up calling the worker's endpoint. */
export async function claimTask(site: TestSite, worker: TestAgent, path: string): Promise<void> {
  const isClaimed = async () => (await site.as(worker, "POST", `${path}/claim`)).status === 200;
  await waitUntil(isClaimed, "a claim");
}

/** Returns the first peer of a relay as its operator sees it; without members while there is none. */
export async function getPeer(
  site: Pick<TestSite, "asOperator">,
): Promise<Partial<FederationPeer>> {
  return (await listPeers(site))[0] ?? {};
}

/** Returns the debt to each peer that a relay states, by relay id. */
export async function getPeerPositions(
  site: Pick<TestSite, "asOperator">,
): Promise<Record<string, number>> {
  const peers = await listPeers(site);
  return Object.fromEntries(peers.map(({ relay_id, position }) => [relay_id, position]));
}

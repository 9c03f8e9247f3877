import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import {
  createManualClock,
  createReceipt,
  createSeededRandom,
  type ManualClock,
  type TestAgent,
} from "@agent/testkit";
import type { Task } from "@agent/wire";
import { serve, type RunningServer } from "../src/serve.ts";
import { startTestRelay, type Reply, type TestRelay } from "./test-relay.ts";

/** A relay on a real socket. */
export interface TestSite extends TestRelay {
  readonly name: string;
  readonly relayId: string;
  readonly url: string;
  readonly port: number;
  /** Ends it as a process ends; its database stays. */
  stop(): Promise<void>;
}

export interface SiteOptions {
  readonly name: string;
  readonly clock: ManualClock;
  readonly seed: number;
  readonly env?: Record<string, string>;
  /** The address that others are given, if not its own port. */
  readonly url?: string;
  readonly port?: number;
}

/** Returns a port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function startSite({ name, clock, seed, env, ...at }: SiteOptions): Promise<TestSite> {
  const port = at.port ?? (await freePort());
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
      await Promise.all(sites.map((site) => site.close()));
    },
  };
}

export async function addPeer(a: TestSite, b: TestSite): Promise<void> {
  const path = "/api/v1/admin/federation/peers";
  const { status, body } = await a.asOperator("POST", path, { endpoint_url: b.url });
  if (status !== 200) throw new Error(JSON.stringify(body));
}

/** Returns the first defined result of a condition; waits in real time, which sockets need. */
export async function waitUntil<T>(
  condition: () => Promise<T | undefined | false> | T | undefined | false,
  what = "it",
  ms = 10_000,
): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const found = await condition();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Submits a task that ranking assigns to the best agent. */
export async function submitToBest(
  site: TestSite,
  boss: TestAgent,
  { capability = "summarise", ...rest }: { capability?: string; max_budget?: number } = {},
): Promise<Reply> {
  return site.as(boss, "POST", `/agent/${boss.agentId}/task`, {
    prompt: "work",
    required_capabilities: [capability],
    ...rest,
  });
}

/** Waits for the first task of a worker. */
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

/** Returns everything visible of a relay's money. */
export async function getReconciliation(site: Pick<TestSite, "asOperator">) {
  const { body } = await site.asOperator("GET", "/api/v1/admin/reconciliation");
  return body as {
    consistent: boolean;
    checks: { name: string; ok: boolean; detail: string }[];
    totals: Record<string, number>;
  };
}

/** Returns a relay's stated debt to each of its peers, by relay id. */
export async function getPeerPositions(
  site: Pick<TestSite, "asOperator">,
): Promise<Record<string, number>> {
  const { body } = await site.asOperator("GET", "/api/v1/admin/federation/peers");
  const peers = body["peers"] as { relay_id: string; position: number }[];
  return Object.fromEntries(peers.map(({ relay_id, position }) => [relay_id, position]));
}

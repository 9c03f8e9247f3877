import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  createBadNeighbour,
  startReceiver,
  subscribeAgent,
  type BadNeighbour,
  type Receiver,
} from "../bad-neighbour.ts";
import { startChild, type Child } from "../child.ts";
import { computePercentile99, printFigures, type Figure } from "../figures.ts";
import { startRelay } from "../relay-side.ts";
import { openSession, OWNER_TOKEN } from "./sessions.ts";

const SECONDS = 5;
const PAUSE_MS = 5;
/** The growth of memory that docs/deployment.md names. */
const MAX_GROWTH_MIB = 256;

/** A case: what the bad neighbour does until it is stopped, and what the honest client does. */
interface NeighbourCase {
  readonly name: string;
  readonly child: Child;
  readonly honest: () => Promise<void>;
  /** Begins the bad behaviour; returns what it repeats until the end of the case. */
  readonly begin: () => Promise<() => Promise<unknown>>;
}

/**
 * Measures what a bad neighbour costs an honest client and the memory of the server, with and without
 * it in the same run.
 */
export async function benchmarkNeighbours(): Promise<void> {
  const figures: Figure[] = [];
  const side = await startRelay({}, 1);
  const bad = await createBadNeighbour(side.child.url);
  const receiver = await startReceiver();
  try {
    const relayCases = listRelayCases({ child: side.child, bad, honest: side.delegateOnce });
    for (const each of relayCases) figures.push(...(await measureCase(each)));
    figures.push(...(await measureCase(await createWebhookCase(side.child, bad, receiver))));
  } finally {
    await bad.close();
    receiver.close();
    await side.close();
  }
  figures.push(...(await measureAgentServer()));
  printFigures(figures);
}

function listRelayCases({
  child,
  bad,
  honest,
}: {
  readonly child: Child;
  readonly bad: BadNeighbour;
  readonly honest: () => Promise<void>;
}): NeighbourCase[] {
  const shared = { child, honest };
  return [
    {
      ...shared,
      name: "H1 streams that are not read",
      async begin() {
        const paths: string[] = [];
        for (let made = 0; made < 8; made += 1) paths.push(await bad.createNotedTask());
        return async () => {
          for (const path of paths) await bad.sendWithoutReading(`${path}/events`, 1);
          await sleep(50);
        };
      },
    },
    {
      ...shared,
      name: "H2 pipelined answers that are not read",
      async begin() {
        for (let opened = 0; opened < 8; opened += 1) {
          await bad.sendWithoutReading("/openapi.json", 1_500);
        }
        return () => sleep(50);
      },
    },
    {
      ...shared,
      name: "H4 the contract, again and again",
      begin: async () => async () => {
        await fetch(`${child.url}/openapi.json`).then((answer) => answer.text());
        await sleep(10);
      },
    },
    {
      ...shared,
      name: "H5 lists and polls of tasks with many notes",
      async begin() {
        const path = await bad.createNotedTask();
        return async () => {
          await bad.get(`/agent/${bad.agent.agentId}/tasks?limit=5`);
          await bad.get(path);
          await sleep(10);
        };
      },
    },
  ];
}

/** Twenty silent webhooks of one agent; the honest client waits for the webhook of its own task. */
async function createWebhookCase(
  child: Child,
  bad: BadNeighbour,
  receiver: Receiver,
): Promise<NeighbourCase> {
  const good = await createBadNeighbour(child.url);
  await subscribeAgent(child.url, good.agent.agentId, `${receiver.url}/honest`);
  return {
    name: "H3 silent webhooks",
    child,
    async honest() {
      const path = `/agent/${good.agent.agentId}/task`;
      const { task_id } = JSON.parse(await good.post(path, { prompt: "nothing" })) as {
        task_id: string;
      };
      await receiver.waitFor(task_id);
    },
    async begin() {
      for (let made = 0; made < 20; made += 1) {
        await subscribeAgent(child.url, bad.agent.agentId, `${receiver.url}/silent${made}`);
      }
      return async () => {
        await bad.post(`/agent/${bad.agent.agentId}/task`, { prompt: "nothing" });
        await sleep(100);
      };
    },
  };
}

/** Arguments that are costly to check, against the tools of an agent server. */
async function measureAgentServer(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const modules = ["../tools/echo-tool.ts", "../tools/bad-tool.ts"].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  const child = await startChild("../../apps/agent-server/src/main.ts", {
    AGENT_TOOLS: modules.join(","),
    AGENT_AUTH_TOKEN: OWNER_TOKEN,
    AGENT_PORT: "0",
    AGENT_DATA_DIR: folder,
    LOG_LEVEL: "error",
  });
  const [good, bad] = [await openSession(child, "/mcp"), await openSession(child, "/mcp")];
  const list = Array.from({ length: 20_000 }, (_, id) => ({ id, of: "x" }));
  const text = `${"a".repeat(40)}!`;
  try {
    return await measureCase({
      name: "H6 arguments that are costly to check",
      child,
      honest: good.callOnce,
      begin: async () => async () => {
        await bad.call("collect", { list });
        await bad.call("match", { text });
        await sleep(200);
      },
    });
  } finally {
    await good.disconnect();
    await bad.close();
    rmSync(folder, { recursive: true });
  }
}

/** Runs the honest client alone and beside the bad neighbour. */
async function measureCase({ name, child, honest, begin }: NeighbourCase): Promise<Figure[]> {
  await measureTimes(honest, 1);
  const without = computePercentile99(await measureTimes(honest, SECONDS));
  const rssBefore = child.rssMiB();
  const repeat = await begin();
  let [isOver, peak] = [false, rssBefore];
  const misbehaving = (async () => {
    while (!isOver) {
      await repeat();
      peak = Math.max(peak, child.rssMiB());
    }
  })();
  const beside = computePercentile99(await measureTimes(honest, SECONDS));
  isOver = true;
  await misbehaving;
  console.log(
    `${name}: p99 ${without.toFixed(1)} ms, beside it ${beside.toFixed(1)} ms; ` +
      `memory ${rssBefore.toFixed(0)} MiB, at most ${peak.toFixed(0)} MiB`,
  );
  return [
    { name: `${name}: p99 with / without`, value: beside / without, floor: 2, goal: 1.5 },
    { name: `${name}: growth in MiB`, value: peak - rssBefore, floor: MAX_GROWTH_MIB, goal: 128 },
  ].map((figure) => ({ ...figure, bound: "max" }));
}

/** Runs the honest client for a while, now and then, and returns the time of each run in ms. */
async function measureTimes(work: () => Promise<void>, seconds: number): Promise<number[]> {
  const end = performance.now() + seconds * 1_000;
  const times: number[] = [];
  while (performance.now() < end) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
    await sleep(PAUSE_MS);
  }
  return times;
}

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

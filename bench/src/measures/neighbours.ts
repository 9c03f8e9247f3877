import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import {
  createBadNeighbour,
  startReceiver,
  subscribeAgent,
  type Receiver,
} from "../bad-neighbour.ts";
import { startChild, type Child } from "../child.ts";
import { computeMedian, computePercentile99, printFigures, type Figure } from "../figures.ts";
import type { MisbehaviourData, MisbehaviourName, Target } from "../misbehaviours.ts";
import { startRelay } from "../relay-side.ts";
import { openSession, OWNER_TOKEN } from "./sessions.ts";

const ROUNDS = 5;
const SECONDS = 3;
const PAUSE_MS = 5;
/** The growth of memory that docs/deployment.md states. */
const MAX_GROWTH_MIB = 256;

const MISBEHAVIOURS = new URL("../misbehaviours.ts", import.meta.url);

/** A case: the bad neighbour's behaviour until it is stopped, and the honest client's work. */
interface NeighbourCase {
  readonly name: MisbehaviourName;
  readonly child: Child;
  readonly honest: () => Promise<void>;
  readonly target: Target;
}

/**
 * Measures the effect of a bad neighbour on an honest client and on the server's memory, with and without the
 * neighbour in the same run.
 */
export async function benchmarkNeighbours(): Promise<void> {
  const figures: Figure[] = [];
  const side = await startRelay({}, 1);
  const receiver = await startReceiver();
  const { child } = side;
  const target = { url: child.url, silentUrl: receiver.url };
  const names: MisbehaviourName[] = [
    "H1 streams that are not read",
    "H2 pipelined answers that are not read",
    "H4 the contract, again and again",
    "H5 lists and polls of tasks with many notes",
  ];
  try {
    for (const name of names) {
      figures.push(...(await measureCase({ name, child, honest: side.delegateOnce, target })));
    }
    const honest = await createWebhookClient(child, receiver);
    figures.push(...(await measureCase({ name: "H3 silent webhooks", child, honest, target })));
  } finally {
    await receiver.close();
    await side.close();
  }
  figures.push(...(await measureAgentServer()));
  printFigures(figures);
}

/** Returns an honest client that waits for the webhook of its own task. */
async function createWebhookClient(child: Child, receiver: Receiver): Promise<() => Promise<void>> {
  const good = await createBadNeighbour(child.url);
  await subscribeAgent(child.url, good.agent.agentId, `${receiver.url}/honest`);
  return async () => {
    const path = `/agent/${good.agent.agentId}/task`;
    const { task_id } = JSON.parse(await good.post(path, { prompt: "nothing" })) as {
      task_id: string;
    };
    await receiver.waitFor(task_id);
  };
}

/** Sends the tools of an agent server arguments that are costly to check. */
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
  const good = await openSession(child);
  try {
    return await measureCase({
      name: "H6 arguments that are costly to check",
      child,
      honest: good.callOnce,
      target: { url: child.url, silentUrl: "" },
    });
  } finally {
    await good.close();
    await child.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Runs the honest client alone and beside the bad neighbour, in alternation. */
async function measureCase(measured: NeighbourCase): Promise<Figure[]> {
  const { name, child, honest } = measured;
  await measureTimes(honest, 1);
  const rssBefore = child.rssMiB();
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const alone = computePercentile99(await measureTimes(honest, SECONDS));
    rounds.push({ alone, ...(await measureBeside(measured)) });
  }
  const peak = Math.max(...rounds.map((round) => round.peakMiB));
  const [alone, beside] = [
    rounds.map((round) => round.alone),
    rounds.map((round) => round.beside),
  ].map((times) => computeMedian(times).toFixed(1));
  console.log(
    `${name}: p99 ${alone} ms, beside it ${beside} ms; ` +
      `memory ${rssBefore.toFixed(0)} MiB, at most ${peak.toFixed(0)} MiB`,
  );
  const ratios = rounds.map((round) => round.beside / round.alone);
  return [
    {
      name: `${name}: p99 with / without`,
      value: computeMedian(ratios),
      floor: 2,
      goal: 1.5,
      bound: "max",
      rounds: ratios,
    },
    {
      name: `${name}: growth in MiB`,
      value: peak - rssBefore,
      floor: MAX_GROWTH_MIB,
      goal: 128,
      bound: "max",
    },
  ];
}

/** The honest client's p99 in ms, alone and beside the bad neighbour, and the server's peak memory beside it. */
interface Round {
  readonly alone: number;
  readonly beside: number;
  readonly peakMiB: number;
}

/** Runs the honest client while the bad neighbour is active. */
async function measureBeside({
  name,
  child,
  honest,
  target,
}: NeighbourCase): Promise<Omit<Round, "alone">> {
  const worker = new Worker(MISBEHAVIOURS, {
    workerData: { name, target } satisfies MisbehaviourData,
  });
  await once(worker, "message");
  let peakMiB = 0;
  const watching = setInterval(() => (peakMiB = Math.max(peakMiB, child.rssMiB())), 50);
  const beside = computePercentile99(await measureTimes(honest, SECONDS));
  clearInterval(watching);
  await worker.terminate();
  return { beside, peakMiB };
}

/** Runs the honest client for some time with pauses, and returns the duration of each call in ms. */
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

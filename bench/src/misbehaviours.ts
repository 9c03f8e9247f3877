import { parentPort, workerData } from "node:worker_threads";
import { createBadNeighbour, subscribeAgent, type BadNeighbour } from "./bad-neighbour.ts";
import { openSession } from "./measures/sessions.ts";

/** The server to attack, and a receiver of webhooks that never answers. */
export interface Target {
  readonly url: string;
  readonly silentUrl: string;
}

/** Begins to misbehave; returns the action to repeat. */
type Misbehaviour = (target: Target) => Promise<() => Promise<unknown>>;

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Gives a misbehaviour its own agent at a relay. */
const byAgent =
  (begin: (bad: BadNeighbour, target: Target) => Promise<() => Promise<unknown>>): Misbehaviour =>
  async (target) =>
    begin(await createBadNeighbour(target.url), target);

const misbehaviours = {
  "H1 streams that are not read": byAgent(async (bad) => {
    const paths: string[] = [];
    for (let made = 0; made < 8; made += 1) paths.push(await bad.createNotedTask());
    return async () => {
      for (const path of paths) await bad.sendWithoutReading(`${path}/events`, 1);
      await sleep(50);
    };
  }),
  "H2 pipelined answers that are not read": byAgent(async (bad) => {
    for (let opened = 0; opened < 8; opened += 1) {
      await bad.sendWithoutReading("/openapi.json", 1_500);
    }
    return () => sleep(50);
  }),
  "H3 silent webhooks": byAgent(async (bad, { url, silentUrl }) => {
    for (let made = 0; made < 20; made += 1) {
      await subscribeAgent(url, bad.agent.agentId, `${silentUrl}/silent${made}`);
    }
    return async () => {
      await bad.post(`/agent/${bad.agent.agentId}/task`, { prompt: "nothing" });
      await sleep(100);
    };
  }),
  async "H4 the contract, again and again"({ url }) {
    return async () => {
      await fetch(`${url}/openapi.json`).then((answer) => answer.text());
      await sleep(10);
    };
  },
  "H5 lists and polls of tasks with many notes": byAgent(async (bad) => {
    const path = await bad.createNotedTask();
    return async () => {
      await bad.get(`/agent/${bad.agent.agentId}/tasks?limit=5`);
      await bad.get(path);
      await sleep(10);
    };
  }),
  async "H6 arguments that are costly to check"({ url }) {
    const { callWithText } = await openSession({ url });
    // Formatted once, because with few cores the bad client's own work would delay the honest client.
    const list = JSON.stringify({
      list: Array.from({ length: 20_000 }, (_, id) => ({ id, of: "x" })),
    });
    const text = JSON.stringify({ text: `${"a".repeat(40)}!` });
    return async () => {
      await callWithText("collect", list);
      await callWithText("match", text);
      await sleep(200);
    };
  },
} satisfies Record<string, Misbehaviour>;

export type MisbehaviourName = keyof typeof misbehaviours;

/** The data for the worker thread that runs this file, so that the honest client has its own event loop. */
export interface MisbehaviourData {
  readonly name: MisbehaviourName;
  readonly target: Target;
}

async function misbehave({ name, target }: MisbehaviourData): Promise<never> {
  const repeat = await misbehaviours[name](target);
  parentPort?.postMessage("begun");
  for (;;) await repeat();
}

if (parentPort !== null) await misbehave(workerData as MisbehaviourData);

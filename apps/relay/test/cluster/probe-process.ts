import { setTimeout as sleep } from "node:timers/promises";
import { OPERATOR_TOKEN } from "../test-relay.ts";

/** The answer to one request; without a status the connection was closed before an answer. */
export interface ProbeAnswer {
  readonly path: string;
  readonly status: number | undefined;
  readonly ms: number;
}

export interface Probe {
  /** Returns the answers that have arrived so far. */
  answers(): readonly ProbeAnswer[];
  /** Stops sending requests, and resolves when all of them have ended. */
  stop(): Promise<readonly ProbeAnswer[]>;
}

const INTERVAL_MS = 100;

/** Repeatedly deposits 1 and reads the balance of an agent, without waiting for earlier answers. */
export function startProbe(url: string, agentId: string): Probe {
  const answers: ProbeAnswer[] = [];
  const asked: Promise<void>[] = [];
  const agent = `${url}/api/v1/agents/${agentId}`;
  const stopped = new AbortController();

  async function ask(path: string, init: RequestInit): Promise<void> {
    const began = performance.now();
    const headers = {
      authorization: `Bearer ${OPERATOR_TOKEN}`,
      "content-type": "application/json",
    };
    const answer = await fetch(`${agent}/${path}`, { ...init, headers }).catch(() => undefined);
    await answer?.text().catch(() => {});
    answers.push({ path, status: answer?.status, ms: performance.now() - began });
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted) {
      asked.push(ask("deposit", { method: "POST", body: JSON.stringify({ amount: 1 }) }));
      asked.push(ask("balance", { method: "GET" }));
      await sleep(INTERVAL_MS);
    }
  }

  const running = run();
  return {
    answers: () => [...answers],
    async stop() {
      stopped.abort();
      await running;
      await Promise.all(asked);
      return answers;
    },
  };
}

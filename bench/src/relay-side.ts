import { receiptOf, testAgent, tokenOf, type TestAgent } from "@agent/testkit";
import { startChild, type Child } from "./child.ts";
import { createPoster, type Post } from "./load.ts";

export const masterToken = "bench-master-token";
const world = {
  now: Date.now,
  randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
};
const prompt = "Summarise the minutes of the meeting. ".repeat(30);
const result = "The meeting decided to meet again. ".repeat(8);

/** A relay under load, with an agent that pays and one that works. */
export interface RelaySide {
  readonly child: Child;
  /** One delegation: submit, execute, deliver, settle. */
  readonly once: () => Promise<void>;
  close(): Promise<void>;
}

export async function startRelay(
  env: Record<string, string>,
  unitCost: number,
): Promise<RelaySide> {
  const child = await startChild("../../apps/relay/src/main.ts", {
    AGENT_API_TOKEN: masterToken,
    X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
    AGENT_HOST: "127.0.0.1",
    AGENT_RATE_LIMIT_SCALE: "0",
    AGENT_PRIVATE_ENDPOINTS: "allow",
    PORT: "0",
    ...env,
  });
  const { post, close } = createPoster(child.url);
  const info = (await (await fetch(`${child.url}/.well-known/agent-relay.json`)).json()) as {
    did: string;
  };
  const boss = await enrol(post);
  const worker = await enrol(post);
  const path = `/api/v1/agents/${worker.agentId}`;
  const listing = { capabilities: ["x"], pricing: [{ capability: "x", unit_cost: unitCost }] };
  await post(`${path}/listing`, JSON.stringify(listing), masterToken);
  const deposit = JSON.stringify({ amount: 100_000_000 });
  await post(`/api/v1/agents/${boss.agentId}/deposit`, deposit, masterToken);
  const bossToken = await tokenOf(boss, info.did, world);
  const workerToken = await tokenOf(worker, info.did, world);
  const task = JSON.stringify({ prompt });
  return {
    child,
    async once() {
      const answer = await post(`/agent/${worker.agentId}/task`, task, bossToken);
      const { task_id } = JSON.parse(answer) as { task_id: string };
      const work = { task_id, prompt, submitted_at: Date.now() };
      const receipt = JSON.stringify(receiptOf(worker, work, { result }));
      await post(`/agent/${worker.agentId}/task/${task_id}/result`, receipt, workerToken);
    },
    async close() {
      await close();
      await child.stop();
    },
  };
}

async function enrol(post: Post): Promise<TestAgent> {
  const agent = testAgent(world);
  const body = { agent_id: agent.agentId, public_key: agent.publicKey };
  const answer = await post("/api/v1/agents/bootstrap", JSON.stringify(body));
  const { device_id } = JSON.parse(answer) as { device_id: string };
  return { ...agent, deviceId: device_id };
}

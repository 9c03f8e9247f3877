import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { receiptOf, testAgent, tokenOf, type TestAgent } from "@agent/testkit";
import { startChild, type Child } from "./child.ts";
import { median, printFigures } from "./figures.ts";
import { createPoster, perSecond, type Post } from "./load.ts";
import { verifySeconds } from "./verify-cost.ts";

const rounds = 5;
const seconds = 3;
const masterToken = "bench-master-token";
const world = {
  now: Date.now,
  randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
};
const prompt = "Summarise the minutes of the meeting. ".repeat(30);
const result = "The meeting decided to meet again. ".repeat(8);

interface Side {
  readonly child: Child;
  /** One delegation: submit, execute, deliver, settle. */
  readonly once: () => Promise<void>;
  close(): Promise<void>;
}

async function startRelay(env: Record<string, string>, unitCost: number): Promise<Side> {
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

/** Delegations a second beside bare posts a second, taken in turn in one run. */
export async function delegations(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const bare = await startChild("./bare-server.ts", {});
  const poster = createPoster(bare.url);
  const paid = await startRelay({}, 1);
  const free = await startRelay({}, 0);
  const disk = await startRelay({ AGENT_DB_PATH: join(folder, "relay.db") }, 1);
  const body = JSON.stringify({ id: "x", prompt: "x".repeat(1_450) });
  const rates = {
    bare: [] as number[],
    paid: [] as number[],
    free: [] as number[],
    disk: [] as number[],
  };
  const cpu: number[] = [];
  const verify: number[] = [];
  try {
    // A relay is compiled to the end in its first seconds.
    for (const side of [paid, free, disk]) await perSecond(3, side.once);
    for (let round = 0; round < rounds; round += 1) {
      rates.bare.push(await perSecond(seconds, async () => void (await poster.post("/", body))));
      const before = paid.child.cpuSeconds();
      const rate = await perSecond(seconds, paid.once);
      cpu.push((paid.child.cpuSeconds() - before) / (rate * seconds));
      rates.paid.push(rate);
      rates.free.push(await perSecond(seconds, free.once));
      rates.disk.push(await perSecond(seconds, disk.once));
      verify.push(await verifySeconds());
    }
  } finally {
    await Promise.all([poster.close(), bare.stop(), paid.close(), free.close(), disk.close()]);
    rmSync(folder, { recursive: true });
  }
  const of = (side: keyof typeof rates) => median(rates[side]);
  console.log(
    `a second, median of ${rounds}: bare ${of("bare").toFixed(0)}, paid ${of("paid").toFixed(0)}, ` +
      `free ${of("free").toFixed(0)}, paid on disk ${of("disk").toFixed(0)}; ` +
      `CPU per paid delegation ${(median(cpu) * 1e6).toFixed(0)} us, per verify ${(median(verify) * 1e6).toFixed(0)} us`,
  );
  printFigures([
    {
      name: "paid delegations in memory / bare posts",
      value: of("paid") / of("bare"),
      floor: 0.05,
      goal: 0.08,
    },
    {
      name: "free delegations in memory / bare posts",
      value: of("free") / of("bare"),
      floor: 0.07,
      goal: 0.1,
    },
    {
      name: "paid on disk / paid in memory",
      value: of("disk") / of("paid"),
      floor: 0.7,
      goal: 0.85,
    },
    {
      name: "relay CPU per paid delegation / CPU of one native verify",
      value: median(cpu) / median(verify),
      floor: 6,
      goal: 3.5,
      bound: "most",
    },
  ]);
}

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  copyFileSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startAgentProcess, type AgentProcess } from "./testing/agents/agent-process.ts";
import { startTestRelay, type TestRelay } from "./testing/agents/test-relay.ts";

/** Reports its start, and ends when it is released; the text `die` kills the agent. */
const tools = `
import { appendFileSync, existsSync } from "node:fs";
export const tools = [{
  definition: { name: "work", description: "", inputSchema: {
    type: "object", properties: { text: { type: "string" } } } },
  async handler({ text }) {
    appendFileSync("begun", text + "\\n");
    if (text === "die") process.kill(process.pid, "SIGKILL");
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
    return { ok: true, data: text.toUpperCase() };
  },
}]`;

/** Less than the minute of a lease. */
const SOON = { timeout: 40_000, interval: 50 };

let folder: string;
let relay: TestRelay;
let agents: AgentProcess[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "agent-interrupted-"));
  writeFileSync(join(folder, "tools.mjs"), tools);
  const settings = { tools: "tools.mjs", port: 0, syncIntervalMs: 200, offer: "all" };
  writeFileSync(join(folder, "agent.json"), JSON.stringify(settings));
  // Tasks come over the socket alone: a relay that calls an endpoint notices at once that the call is lost.
  relay = await startTestRelay(0, { AGENT_PRIVATE_ENDPOINTS: "block" });
  agents = [];
});
afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.kill("SIGKILL")));
  await relay.stop();
  rmSync(folder, { recursive: true });
});

async function startAgent(data = "data"): Promise<AgentProcess> {
  const agent = startAgentProcess({
    args: ["--config", "agent.json"],
    cwd: folder,
    env: { AGENT_SYNC_URL: relay.url, AGENT_DATA_DIR: join(folder, data) },
  });
  agents.push(agent);
  await agent.waitForOutput(/registered at/);
  return agent;
}

function readData(name: string): Record<string, unknown> {
  const text = readFileSync(join(folder, "data", name), "utf8");
  return JSON.parse(text) as Record<string, unknown>;
}

const agentId = () => String(readData("identity.json")["agent_id"]);

/** Lists the texts of the tasks in the order in which they were begun. */
const begun = () =>
  existsSync(join(folder, "begun"))
    ? readFileSync(join(folder, "begun"), "utf8").trimEnd().split("\n")
    : [];

async function submit(prompt: string): Promise<string> {
  const answer = await relay.operator.submitTask({
    params: { agentId: agentId() },
    body: { prompt },
  });
  if (!answer.ok) throw new Error(answer.message);
  return answer.body.task_id;
}

async function readTask(taskId: string) {
  const params = { agentId: agentId(), taskId };
  const answer = await relay.operator.getTask({ params, query: {} });
  return answer.ok ? answer.body : undefined;
}

const statusOf = async (taskId: string) => (await readTask(taskId))?.task.status;
const countEvents = async (taskId: string) => (await readTask(taskId))?.task.event_id ?? 0;

test("A19: an agent killed during tasks continues them after the restart, within their leases", async () => {
  const first = await startAgent();
  const taskIds = [await submit("one"), await submit("two")];
  await expect.poll(() => begun().length, SOON).toBe(2);
  const eventCounts = await Promise.all(taskIds.map(countEvents));
  await first.kill("SIGKILL");

  const second = await startAgent();
  await expect.poll(() => begun().length, SOON).toBe(4);
  writeFileSync(join(folder, "go"), "");
  for (const [at, taskId] of taskIds.entries()) {
    await expect.poll(() => statusOf(taskId), SOON).toBe("completed");
    // The one event is the end of the task. A lease that ended would have added two.
    expect((await countEvents(taskId)) - (eventCounts[at] ?? 0)).toBe(1);
  }
  expect(begun().toSorted()).toEqual(["one", "one", "two", "two"]);
  expect(second.log()).toContain("task.resumed");
  await second.kill("SIGTERM");
  expect(readData("attempts.json")["tasks"]).toEqual([]);
});

async function countSockets(): Promise<number | undefined> {
  const answer = await relay.operator.getOverview({});
  return answer.ok ? answer.body.sockets : undefined;
}

test("A19: another process with the same key does not take up the tasks of the first", async () => {
  const first = await startAgent();
  const taskId = await submit("one");
  await expect.poll(() => begun().length, SOON).toBe(1);
  mkdirSync(join(folder, "copy"));
  for (const name of ["identity.json", "identity.key"]) {
    copyFileSync(join(folder, "data", name), join(folder, "copy", name));
  }
  const other = await startAgent("copy");
  // Each of them looks for interrupted tasks when its socket is ready.
  await expect.poll(countSockets, SOON).toBe(2);
  expect(other.log()).not.toContain("task.resumed");
  writeFileSync(join(folder, "go"), "");
  await expect.poll(() => statusOf(taskId), SOON).toBe("completed");
  expect(begun()).toEqual(["one"]);
  expect(other.log()).not.toContain("task.resumed");
  await other.kill("SIGKILL");
  await first.kill("SIGTERM");
});

test("D26: of two processes on copies of a data folder only one does each task", async () => {
  const first = await startAgent();
  mkdirSync(join(folder, "copy"));
  for (const name of ["identity.json", "identity.key"]) {
    copyFileSync(join(folder, "data", name), join(folder, "copy", name));
  }
  const other = await startAgent("copy");
  await expect.poll(countSockets, SOON).toBe(2);
  writeFileSync(join(folder, "go"), "");
  const texts = ["one", "two", "three", "four", "five"];
  const taskIds = await Promise.all(texts.map(submit));
  for (const taskId of taskIds) await expect.poll(() => statusOf(taskId), SOON).toBe("completed");
  expect(begun().toSorted()).toEqual(texts.toSorted());
  expect(first.log() + other.log()).toContain('"agent.runs_twice"');
});

test("A19: a task whose cancel was requested while its agent was away is released after the restart", async () => {
  const first = await startAgent();
  const taskId = await submit("one");
  await expect.poll(() => begun().length, SOON).toBe(1);
  await first.kill("SIGKILL");
  await relay.operator.cancelTask({ params: { agentId: agentId(), taskId } });
  expect(await statusOf(taskId)).toBe("claimed");
  await startAgent();
  await expect.poll(() => statusOf(taskId), SOON).toBe("cancelled");
});

test("A20: a task that kills its agent three times fails, and a task beside it does not", async () => {
  const agent = await startAgent();
  const neighbour = await submit("one");
  await expect.poll(() => begun().length, SOON).toBe(1);
  const fatal = await submit("die");
  await agent.ended();
  await (await startAgent()).ended();
  expect(begun().toSorted()).toEqual(["die", "die", "one", "one"]);
  writeFileSync(join(folder, "go"), "");
  await (await startAgent()).ended();
  const last = await startAgent();
  await expect.poll(() => statusOf(fatal), SOON).toBe("failed");
  await expect.poll(() => statusOf(neighbour), SOON).toBe("completed");
  expect(begun().filter((text) => text === "die")).toHaveLength(3);
  expect((await readTask(fatal))?.receipt).toMatchObject({
    status: "failed",
    result: "This agent was killed or crashed each of the 3 times that it worked on this task",
    tools_used: [],
  });
  expect(last.log()).toContain("task.given_up");
});

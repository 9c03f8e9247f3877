import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { callText, connectClient } from "./testing/tools/connect-client.ts";
import {
  replyToolCalls,
  replyText,
  startModelServer,
  replyJson,
  type ModelServer,
} from "./testing/servers/model-server.ts";
import { startStandaloneAgent, type StandaloneOptions } from "./testing/agents/start-agent.ts";
import { shoutTool, createTextTool } from "./testing/tools/test-tools.ts";

let server: ModelServer;
let folder: string;
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  server = await startModelServer();
  folder = mkdtempSync(join(tmpdir(), "agent-choices-"));
});
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

const whisper = createTextTool("whisper", (text) => ({ ok: true, data: text.toLowerCase() }));

/** Starts an agent with the tools shout and whisper; calls its tools as the owner over HTTP. */
async function start(options: StandaloneOptions = {}) {
  const started = await startStandaloneAgent({ tools: [shoutTool, whisper], ...options });
  if (!started.ok) throw new Error(started.faults.join("; "));
  const { running } = started;
  closing.push(() => running.stop());
  const client = await connectClient(running.url, "secret");
  closing.push(() => client.close());
  return async (name: string, args: Record<string, unknown>): Promise<unknown> =>
    JSON.parse(await callText(client, name, args));
}

const model = () => ({ llm: { baseUrl: server.baseUrl, model: "m1" } });

test("without a model, rules choose the tool that the prompt names", async () => {
  const call = await start();
  expect(await call("agent_task", { prompt: "whisper HELLO" })).toMatchObject({
    status: "completed",
    result: "hello",
    tools_used: ["whisper"],
  });
});

test("a configured model chooses the tool, with the API key of the environment", async () => {
  server.setReplies(
    replyToolCalls({ name: "whisper", arguments: { text: "YES" } }),
    replyText("It whispered."),
  );
  const env = { AGENT_AUTH_TOKEN: "secret", AGENT_LLM_API_KEY: "key-1" };
  const call = await start({ file: model(), env });
  expect(await call("agent_task", { prompt: "do something" })).toMatchObject({
    status: "completed",
    result: "It whispered.",
    tools_used: ["whisper"],
    memories_formed: 0,
  });
  expect(server.received.map(({ authorization }) => authorization)).toEqual([
    "Bearer key-1",
    "Bearer key-1",
  ]);
});

test("agent_query asks a configured model without tools and stores the exchange", async () => {
  server.setReplies(replyText("Paris."), replyText("Paris, as I said."));
  const call = await start({ file: model() });
  const message = "What is the capital of France?";
  expect(await call("agent_query", { message })).toEqual({
    response: "Paris.",
    memories_formed: 1,
  });
  expect(await call("agent_query", { message })).toMatchObject({ response: "Paris, as I said." });
  const [first, second] = server.received;
  expect(first?.body.tools).toBeUndefined();
  expect(second?.body.messages?.at(-1)?.content).toContain("Answered: Paris.");
});

test("--direct bypasses the model, also for agent_query", async () => {
  server.setReplies();
  const call = await start({ file: model(), args: ["--direct"] });
  expect(await call("agent_task", { prompt: "whisper HELLO" })).toMatchObject({
    result: "WHISPER HELLO",
    tools_used: ["shout"],
  });
  expect(await call("agent_query", { message: "hello?" })).toMatchObject({ memories_formed: 0 });
  expect(server.received).toEqual([]);
});

test("a memory with a path survives a restart", async () => {
  const file = { memory: { path: join(folder, "memory.db") } };
  const before = await start({ file });
  await before("agent_remember", { content: "The sky is blue" });
  for (const close of closing.splice(0).toReversed()) await close();
  expect(readdirSync(folder)).toEqual(["memory.db"]);
  const after = await start({ file });
  expect(await after("agent_recall", { query: "sky" })).toMatchObject([
    { content: "The sky is blue" },
  ]);
});

test("an invalid memory file stops the start", async () => {
  const path = join(folder, "other.db");
  writeFileSync(path, "something else that is long enough to be looked at");
  const started = await startStandaloneAgent({ file: { memory: { path } } });
  expect(started.ok ? [] : started.faults).toEqual([expect.stringMatching(/^memory\.path: /)]);
});

test("memories are embedded by the configured endpoint", async () => {
  server.setReplies(replyJson({ data: [{ index: 0, embedding: [1, 0] }] }));
  const file = { embeddings: { baseUrl: server.baseUrl, model: "e1" } };
  const env = {
    AGENT_AUTH_TOKEN: "secret",
    AGENT_LLM_API_KEY: "key-1",
    AGENT_EMBEDDINGS_API_KEY: "key-2",
  };
  const call = await start({ file, env });
  await call("agent_remember", { content: "The sky is blue" });
  expect(server.received).toMatchObject([
    { path: "/v1/embeddings", authorization: "Bearer key-2", body: { input: ["The sky is blue"] } },
  ]);
});

test("agent_service_listing exists only for an agent with a listing", async () => {
  const listing = { capabilities: ["shout"], pricing: [], description: "Shouts" };
  const listed = await start({ file: { listing } });
  expect(await listed("agent_service_listing", {})).toMatchObject(listing);
  const names = (tools: unknown) => (tools as { name: string }[]).map(({ name }) => name);
  expect(names(await listed("agent_tools", {}))).toContain("agent_service_listing");
  const unlisted = await start();
  expect(names(await unlisted("agent_tools", {}))).not.toContain("agent_service_listing");
});

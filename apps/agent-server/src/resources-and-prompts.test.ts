import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { owner } from "./caller.ts";
import { parseIdentityFile } from "./identity/identity-file.ts";
import { callText, connectClient, type ProtocolEra } from "./testing/tools/connect-client.ts";
import { startTestServer, type TestServer } from "./testing/agents/test-agent.ts";
import { failingTool, shoutTool } from "./testing/tools/test-tools.ts";

let server: TestServer;

/** The token names the caller; a name that begins with "blocked" is blocked. */
beforeAll(async () => {
  server = await startTestServer(
    { tools: [shoutTool, failingTool], description: "Shouts" },
    async (name) => ({
      ok: true,
      caller: {
        kind: "agent",
        agentId: name,
        trust: name.startsWith("blocked") ? "blocked" : "trusted",
      },
    }),
  );
});
afterAll(() => server.close());

const connect = (name: string, mode: ProtocolEra = "auto") =>
  connectClient(server.url, `agent:${name}`, mode);

async function call(client: Client, name: string, args: Record<string, unknown>) {
  return JSON.parse(await callText(client, name, args)) as unknown;
}

async function read(client: Client, uri: string): Promise<unknown> {
  const [first] = (await client.readResource({ uri })).contents;
  return JSON.parse(first !== undefined && "text" in first ? first.text : "");
}

async function prompt(client: Client, name: string, args?: Record<string, string>) {
  const { messages } = await client.getPrompt({ name, ...(args && { arguments: args }) });
  const [first] = messages;
  return first?.content.type === "text" ? first.content.text : "";
}

describe.each(["auto", "legacy"] as const)("a client that negotiates %s", (mode) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(`reader-${mode}`, mode);
    await call(client, "agent_remember", { content: "The sky is blue" });
    await call(client, "agent_remember", {
      content: "My shoe size is 42",
      sensitivity: "personal",
    });
  });
  afterAll(() => client.close());

  test("the agent lists the three resources and no templates", async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
      ["agent://identity", "application/json"],
      ["agent://state", "application/json"],
      ["agent://memories", "application/json"],
    ]);
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
  });

  test("agent://identity has the agent's id and key, signed by that key", async () => {
    const { agentId, publicKey } = server.agent.identity;
    const identity = await read(client, "agent://identity");
    expect(identity).toMatchObject({ agent_id: agentId, public_key: publicKey });
    expect(parseIdentityFile(JSON.stringify(identity))).not.toBeNull();
  });

  test("agent://state counts tasks and memories", async () => {
    interface State {
      completed_tasks: number;
      failed_tasks: number;
      memory_count: number;
      uptime_ms: number;
    }
    const before = (await read(client, "agent://state")) as State;
    const { work } = server.agent;
    await work.accept({ prompt: "hi", requiredCapabilities: [] }, { caller: owner });
    await work.accept({ prompt: "hi", requiredCapabilities: ["failing"] }, { caller: owner });
    await call(client, "agent_remember", { content: `state of ${mode}` });
    const after = (await read(client, "agent://state")) as State;
    expect(after).toEqual({
      ...before,
      agent_id: server.agent.identity.agentId,
      status: "idle",
      active_tasks: 0,
      completed_tasks: before.completed_tasks + 1,
      failed_tasks: before.failed_tasks + 1,
      memory_count: before.memory_count + 1,
      uptime_ms: after.uptime_ms,
      gradient: null,
    });
    expect(after.uptime_ms).toBeGreaterThanOrEqual(before.uptime_ms);
  });

  test("agent://memories lists only memories that are not sensitive", async () => {
    const memories = (await read(client, "agent://memories")) as { content: string }[];
    const contents = memories.map(({ content }) => content);
    expect(contents).toContain("The sky is blue");
    expect(contents).not.toContain("My shoe size is 42");
  });

  test("any other resource is not found", async () => {
    await expect(read(client, "agent://secrets")).rejects.toThrow(/not found/i);
  });

  test("the agent lists the three prompts with their arguments", async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name, arguments: args }) => [name, args])).toEqual([
      ["chat", [{ name: "message", description: "What to say.", required: true }]],
      ["recall", [{ name: "query", description: "The subject.", required: true }]],
      ["reflect", []],
    ]);
  });

  test("an unknown prompt, and a prompt without its arguments, are refused", async () => {
    await expect(prompt(client, "sing")).rejects.toThrow('Unknown prompt "sing"');
    const missing = 'Invalid arguments for prompt "chat": message: is required';
    await expect(prompt(client, "chat", {})).rejects.toThrow(missing);
  });

  test("chat passes the message on to the agent", async () => {
    const text = await prompt(client, "chat", { message: "How are you?" });
    expect(text).toMatch(/tester: Shouts/);
    expect(text).toMatch(/How are you\?$/);
  });

  test("recall and reflect show only memories that are not sensitive", async () => {
    expect(await prompt(client, "recall", { query: "the sky" })).toContain("- The sky is blue");
    expect(await prompt(client, "recall", { query: "zzz" })).toContain("(none)");
    const reflection = await prompt(client, "reflect");
    expect(reflection).toContain("- The sky is blue");
    expect(reflection).not.toContain("shoe");
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ["chat", {}, /message/],
    ["recall", { query: "" }, /query: must not be empty/],
    ["nothing", {}, /nothing/],
  ])("the prompt %s with %j is refused", async (name, args, reason) => {
    await expect(prompt(client, name, args)).rejects.toThrow(reason);
  });
});

test("a blocked caller reads no resource and gets no prompt", async () => {
  const client = await connect("blocked");
  const refusal = { code: -32_600, message: "Policy denied: the caller is blocked" };
  await expect(read(client, "agent://identity")).rejects.toMatchObject(refusal);
  await expect(prompt(client, "chat", { message: "hi" })).rejects.toMatchObject(refusal);
  await client.close();
});

test("200 interleaved calls of four callers never show a caller the memories of another", async () => {
  const names = ["ann", "ben", "cat", "dan"];
  const clients = await Promise.all(
    names.map(async (name, index) => ({
      name,
      client: await connect(name, index % 2 === 0 ? "auto" : "legacy"),
    })),
  );
  await Promise.all(
    Array.from({ length: 10 }).flatMap((_, turn) =>
      clients
        .flatMap(({ name, client }) => [
          call(client, "agent_remember", { content: `secret plan ${turn} of ${name}` }),
          call(client, "agent_remember", { content: "the common plan" }),
          call(client, "agent_recall", { query: "plan", limit: 100 }),
          call(client, "agent_query", { message: "what is the plan?" }),
          read(client, "agent://memories"),
        ])
        .map(async (answer, index) => {
          const others = names.filter((name) => name !== names[Math.floor(index / 5)]);
          const text = JSON.stringify(await answer);
          for (const other of others) expect(text).not.toContain(`of ${other}`);
        }),
    ),
  );
  for (const { name, client } of clients) {
    const items = (await call(client, "agent_recall", { query: "plan", limit: 100 })) as {
      content: string;
    }[];
    expect(items.filter(({ content }) => content.endsWith(`of ${name}`))).toHaveLength(10);
    expect(items).toHaveLength(11);
    await client.close();
  }
});

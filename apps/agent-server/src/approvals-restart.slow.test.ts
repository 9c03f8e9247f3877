import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startAgentProcess } from "./testing/agents/agent-process.ts";
import { callTextTool } from "./testing/tools/connect-client.ts";

const risky = `export default [{
  definition: { name: "risky", description: "", risk: 3, inputSchema: {
    type: "object", properties: { text: { type: "string" } } } },
  handler: ({ text }) => ({ ok: true, data: "did " + text }),
}]`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-approved-"));
  await writeFile(join(folder, "tools.mjs"), risky);
});
afterAll(() => rm(folder, { recursive: true }));

/** Starts the agent in its own process, which a test kills without warning. */
async function withAgent<T>(use: (url: string) => Promise<T>): Promise<T> {
  const agent = startAgentProcess({
    args: ["--tools", "tools.mjs", "--port", "0"],
    env: { AGENT_DATA_DIR: join(folder, "data"), AGENT_AUTH_TOKEN: "owner-token" },
    cwd: folder,
  });
  await agent.waitForOutput(/listening on/);
  try {
    return await use(/listening on (\S+)\/mcp/.exec(agent.output())?.[1] ?? "");
  } finally {
    await agent.kill("SIGKILL");
  }
}

async function approve(url: string, asked: string): Promise<string> {
  const id = /approval_id (\S+)/.exec(asked)?.[1] ?? "";
  const body = JSON.stringify({ decision: "approve" });
  const decided = await fetch(`${url}/approvals/${id}`, { method: "POST", headers, body });
  expect(decided.status).toBe(200);
  return id;
}

const headers = { authorization: "Bearer owner-token", "content-type": "application/json" };
const call = (url: string) => callTextTool(`${url}/mcp`, "owner-token", "risky", "it");

test("D6: an approval by the owner is used once, however often the agent crashes", async () => {
  const asked = await withAgent(call);
  const id = /approval_id (\S+)/.exec(asked)?.[1];
  expect(id).toBeDefined();
  await withAgent(async (url) => {
    const listed = await fetch(`${url}/approvals`, { headers });
    expect(await listed.json()).toMatchObject({ approvals: [{ approval_id: id, tool: "risky" }] });
    const body = JSON.stringify({ decision: "approve" });
    const decided = await fetch(`${url}/approvals/${id}`, { method: "POST", headers, body });
    expect(decided.status).toBe(200);
  });
  expect(await withAgent(call)).toBe("did it");
  expect(await withAgent(call)).toMatch(/requires approval/);
}, 60_000);

test.each([
  ["put back in place of the newer one", true],
  ["copied over the newer one", false],
])(
  "A26: a used approval grants nothing after an old copy of the data folder was %s",
  async (_, isReplaced) => {
    const [data, backup] = [join(folder, "data"), join(folder, "backup")];
    await rm(data, { recursive: true, force: true });
    await rm(backup, { recursive: true, force: true });
    await withAgent(async (url) => approve(url, await call(url)));
    await cp(data, backup, { recursive: true });
    expect(await withAgent(call)).toBe("did it");
    if (isReplaced) await rm(data, { recursive: true });
    await cp(backup, data, { recursive: true });
    await withAgent(async (url) => {
      const asked = await call(url);
      expect(asked).toMatch(/requires approval/);
      await approve(url, asked);
    });
    // An approval that was given after the copy is valid after a restart as before.
    expect(await withAgent(call)).toBe("did it");
  },
  60_000,
);

import { mkdtemp, rm, writeFile } from "node:fs/promises";
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

import { formatSafeJson } from "@agent/command-line";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { runCommand } from "../../test/processes/operator-command.ts";
import type { OperatorOptions } from "./operator-command.ts";

let t: ServedRelay;
beforeAll(async () => {
  t = await serveTestRelay();
});
afterAll(() => t.close());

/** A control sequence in one character (C1), a mark that turns the direction, and an invisible character. */
const HOSTILE_NAME = "worker\u009b2J\u202egpj.exe\u200b";

test.each([
  ["a C1 control", "\u009b2J", String.raw`"\u009b2J"`],
  ["a mark of direction", "\u202egpj.exe", String.raw`"\u202egpj.exe"`],
  ["an escape", "\u001b[2J", String.raw`"\u001b[2J"`],
  ["a letter of another language", "\u00c4 \u4e2d", '"\u00c4 \u4e2d"'],
])("OP13: JSON that is printed keeps %s, and cannot control the terminal", (_, text, json) => {
  expect(formatSafeJson(text)).toBe(json);
  expect(JSON.parse(formatSafeJson({ [text]: [text] }))).toEqual({ [text]: [text] });
});

test("OP13: the name of an agent cannot control the terminal in the output of --json", async () => {
  const worker = await t.createWorker(1);
  const { agentId } = worker;
  const body = {
    agent_id: agentId,
    endpoint_url: "http://127.0.0.1:1/mcp",
    capabilities: ["summarise"],
    metadata: { name: HOSTILE_NAME, description: "does work" },
  };
  expect((await t.as(worker, "POST", "/api/v1/agents/register", body)).status).toBe(200);
  const { out } = await runCommand({ url: t.baseUrl, now: t.clock.now }, ["agents"], {
    json: true,
  });
  expect(out).not.toMatch(/[\u007f-\u009f\u200b\u202e]/);
  expect(JSON.parse(out)).toMatchObject({ agents: [{ name: HOSTILE_NAME }] });
});

test.each<[args: string[], options: OperatorOptions, code: number, fault: object]>([
  [["task"], {}, 2, { code: "command.invalid", message: "ID is missing", status: 0 }],
  [["withdrawals"], { reason: "r" }, 2, { code: "command.invalid" }],
  [["series", "speed"], {}, 2, { code: "command.invalid" }],
  [["status"], { relay: "nonsense" }, 2, { code: "command.invalid" }],
  [
    ["task", "019b7d21-53eb-7ccd-926c-3badff397897"],
    {},
    1,
    { code: "task.not_found", status: 404 },
  ],
  [
    ["tasks"],
    { limit: "0" },
    1,
    { code: "request.invalid", status: 400, issues: [{ path: "limit" }] },
  ],
  [["status"], { relay: "http://127.0.0.1:1" }, 3, { status: 0 }],
  [["task", "\u202e"], {}, 1, {}],
])(
  "OP15: --json prints one line of JSON for the refusal of %j with %j too",
  async (args, options, code, fault) => {
    const asked = { url: t.baseUrl, now: t.clock.now };
    const ended = await runCommand(asked, args, { ...options, json: true });
    expect(ended).toMatchObject({
      code,
      errors: expect.stringMatching(/^agent-relay: /) as string,
    });
    expect(ended.out.trim().split("\n")).toHaveLength(1);
    const shown = JSON.parse(ended.out) as { readonly error: string; readonly message: string };
    expect(shown).toMatchObject(fault);
    expect(shown.error).toBe(shown.message);
    // Without the option the output is for people, and a refusal leaves it empty.
    expect((await runCommand(asked, args, options)).out).toBe("");
  },
);

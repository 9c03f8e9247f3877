import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadToolsModule, parseTools } from "./load-module.ts";
import { findNameCollisions, createRegistry } from "./registry.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-tools-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function load(source: string, name = `${crypto.randomUUID()}.mjs`) {
  const path = join(folder, name);
  await writeFile(path, source);
  return loadToolsModule(path);
}

const tool = `{
  definition: { name: "echo", description: "", inputSchema: { type: "object" }, risk: 1 },
  handler: (args) => ({ ok: true, data: JSON.stringify(args) }),
}`;

describe("a tools module", () => {
  test.each([
    ["its default export", `export default [${tool}]`],
    ["an export called tools", `export const tools = [${tool}]`],
    ["TypeScript", `export const tools = [${tool}] as readonly unknown[]`, "typed.ts"],
  ])("a tools module is read from %s", async (_, source, name?: string) => {
    const loaded = await load(source, name);
    expect(loaded).toMatchObject({ ok: true, tools: [{ definition: { name: "echo", risk: 1 } }] });
  });

  test.each([
    ["an object instead of an array", "export const tools = {}", "must export an array of tools"],
    ["no export", "", "must export an array of tools"],
    ["a syntax error", "export default [", "cannot be loaded"],
    ["an exception while it loads", 'throw new Error("boom")', "cannot be loaded: boom"],
  ])("a tools module with %s is refused", async (_, source, fault) => {
    const loaded = await load(source);
    expect(loaded).toMatchObject({ ok: false, faults: [expect.stringContaining(fault)] });
  });

  test("a missing tools module is refused", async () => {
    expect(await loadToolsModule(join(folder, "missing.mjs"))).toMatchObject({ ok: false });
  });
});

const definition = { name: "x", description: "", inputSchema: { type: "object" } };
const handler = () => ({ ok: true, data: "" });

describe("an entry of a tools module", () => {
  test.each([
    [{ definition }, "tools.0.handler: is required"],
    [{ handler }, "tools.0.definition: is required"],
    [{ definition, handler: "x" }, "tools.0.handler: must be function"],
    [{ handler, definition: { ...definition, name: "" } }, "tools.0.definition.name"],
    [{ handler, definition: { ...definition, name: "a b" } }, "tools.0.definition.name"],
    [{ handler, definition: { ...definition, risk: 5 } }, "tools.0.definition.risk"],
    [{ handler, definition: { ...definition, risk: 0.5 } }, "tools.0.definition.risk"],
    [
      { handler, definition: { ...definition, inputSchema: { type: "string" } } },
      'tools.0.definition.inputSchema.type: must be "object"',
    ],
    [
      { handler, definition: { ...definition, inputSchema: { type: "object", properties: 7 } } },
      "tools.0.definition.inputSchema",
    ],
  ])("an entry of a tools module is refused, and the fault names its place: %j", (entry, place) => {
    const read = parseTools([entry], "module");
    expect(read).toMatchObject({ ok: false, faults: [expect.stringContaining(place)] });
  });

  test("all faults of all entries of a tools module are reported", () => {
    const read = parseTools([{ definition }, { handler }, null], "module");
    expect(read.ok ? 0 : read.faults.length).toBe(3);
  });
});

test("two tools of a module with the same name are refused", () => {
  const read = parseTools(
    [
      { definition, handler },
      { definition, handler },
    ],
    "module",
  );
  if (!read.ok) throw new Error("two tools of one name are read");
  expect(findNameCollisions(read.tools)).toEqual(['tool "x" is defined twice']);
  expect(createRegistry(read.tools).definitions).toHaveLength(1);
});

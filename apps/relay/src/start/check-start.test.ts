import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "@agent/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { minimalEnv } from "../../test/processes/relay-process.ts";
import { readConfig } from "../config/read-config.ts";
import { checkStart, describeListenFault } from "./check-start.ts";

const folder = mkdtempSync(join(tmpdir(), "relay-check-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function check(env: Record<string, string>) {
  const read = readConfig({ ...minimalEnv, AGENT_DB_PATH: join(folder, "new.db"), ...env });
  if (!read.ok) return read.faults;
  return checkStart(read.config);
}

/** An address of the range for documentation (RFC 5737), which no machine has. */
const FOREIGN_ADDRESS = "203.0.113.5";

describe("HO14 --check-config refuses what the start would refuse", () => {
  test("a folder in place of the database file is refused, and a file is accepted", async () => {
    expect(await check({ AGENT_DB_PATH: folder })).toEqual([
      { variable: "AGENT_DB_PATH", message: "AGENT_DB_PATH must name a file" },
    ]);
    writeFileSync(join(folder, "old.db"), "");
    expect(await check({ AGENT_DB_PATH: join(folder, "old.db") })).toEqual([]);
    expect(await check({})).toEqual([]);
  });

  test("a path that ends with a slash is refused, because the files beside the database are named after it", async () => {
    const faults = await check({ AGENT_DB_PATH: `${join(folder, "new.db")}/` });
    expect(faults).toMatchObject([{ variable: "AGENT_DB_PATH" }]);
  });

  test.each(["0", "free"])(
    "an address that the machine does not have is refused by the name of its variable (port %s)",
    async (port) => {
      const PORT = port === "free" ? String(await findFreePort()) : port;
      expect(await check({ AGENT_HOST: FOREIGN_ADDRESS, PORT })).toEqual([
        { variable: "AGENT_HOST", message: "AGENT_HOST cannot be used: EADDRNOTAVAIL" },
      ]);
      expect(await check({ AGENT_HOST: "127.0.0.1", PORT })).toEqual([]);
    },
  );

  test("a port in use is the fault that a running relay explains", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((listening) => taken.once("listening", listening));
    const { port } = taken.address() as { port: number };
    expect(await check({ AGENT_HOST: "127.0.0.1", PORT: String(port) })).toEqual([
      { variable: "PORT", message: `PORT ${port} cannot be used: EADDRINUSE`, isInUse: true },
    ]);
    taken.close();
  });
});

test.each([
  ["EADDRINUSE", "PORT", true],
  ["EACCES", "PORT", undefined],
  ["EADDRNOTAVAIL", "AGENT_HOST", undefined],
  ["ENOTFOUND", "AGENT_HOST", undefined],
  ["EAI_AGAIN", "AGENT_HOST", undefined],
  ["EAFNOSUPPORT", "AGENT_HOST", undefined],
  ["EMFILE", "PORT", undefined],
] as const)("a relay that cannot listen (%s) names %s", (code, variable, isInUse) => {
  const error = Object.assign(new Error("no"), { code });
  expect(describeListenFault(error, 80)).toEqual({
    variable,
    message: `${variable === "PORT" ? "PORT 80" : variable} cannot be used: ${code}`,
    ...(isInUse && { isInUse }),
  });
});

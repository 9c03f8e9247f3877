import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAgentIdOfKey } from "@agent/crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseIdentityFile } from "./identity-file.ts";
import { loadIdentity, type IdentityOptions } from "./identity.ts";
import { silentLog } from "../log.ts";
import { createSystemRuntime } from "../runtime.ts";

const runtime = createSystemRuntime(silentLog);
let dataDir: string;

beforeEach(async () => {
  dataDir = join(await mkdtemp(join(tmpdir(), "agent-identity-")), "data");
});
afterEach(() => rm(join(dataDir, ".."), { recursive: true }));

function load(options: Partial<IdentityOptions> = {}) {
  return loadIdentity(
    {
      dataDir,
      passphrase: undefined,
      privateKeyHex: undefined,
      name: "tester",
      agentType: "service",
      ...options,
    },
    runtime,
  );
}

async function identityOf(options: Partial<IdentityOptions> = {}) {
  const result = await load(options);
  if (!result.ok) throw new Error(result.fault);
  return result.identity;
}

async function faultOf(options: Partial<IdentityOptions> = {}) {
  const result = await load(options);
  return result.ok ? undefined : result.fault;
}

describe("stored identity", () => {
  test("D1: an identity is created with the id of its key and mode 0600, and is the same on the next start", async () => {
    const first = await identityOf();
    expect(isAgentIdOfKey(first.agentId, first.publicKey)).toBe(true);
    for (const name of ["identity.key", "identity.json"]) {
      expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
    }
    const second = await identityOf({ name: "renamed" });
    expect(second).toMatchObject({ agentId: first.agentId, publicKey: first.publicKey });
    expect(second.file).toMatchObject({ name: "renamed", created_at: first.file.created_at });
  });

  test("the identity's folder is ignored by Git", async () => {
    await identityOf();
    expect(await readFile(join(dataDir, ".gitignore"), "utf8")).toBe("*\n");
  });

  test("the identity file is signed by the key that it names", async () => {
    await identityOf();
    const text = await readFile(join(dataDir, "identity.json"), "utf8");
    expect(parseIdentityFile(text)?.name).toBe("tester");
    expect(parseIdentityFile(text.replace("tester", "impostor"))).toBeNull();
  });

  test("a passphrase keeps the plain key out of the file", async () => {
    const { secretKey, agentId } = await identityOf({ passphrase: "correct horse" });
    const text = await readFile(join(dataDir, "identity.key"), "utf8");
    expect(text).not.toContain(Buffer.from(secretKey).toString("hex"));
    expect(text).not.toContain(Buffer.from(secretKey).toString("base64url"));
    expect((await identityOf({ passphrase: "correct horse" })).agentId).toBe(agentId);
  });

  test("a passphrase that is set later seals the plain key", async () => {
    const { agentId } = await identityOf();
    expect((await identityOf({ passphrase: "late" })).agentId).toBe(agentId);
    expect(await faultOf()).toContain("is sealed: AGENT_PASSPHRASE is required");
  });

  test("a wrong passphrase stops the start", async () => {
    await identityOf({ passphrase: "right" });
    expect(await faultOf({ passphrase: "wrong" })).toContain("cannot be opened");
  });

  test.each([
    ["identity.key", "garbage", "holds no private key"],
    ["identity.json", "garbage", "is not an identity file"],
    ["identity.json", "{}", "is not an identity file"],
  ])("a damaged %s stops the start and is not replaced", async (name, text, fault) => {
    await identityOf();
    await writeFile(join(dataDir, name), text);
    expect(await faultOf()).toContain(fault);
    expect(await readFile(join(dataDir, name), "utf8")).toBe(text);
  });

  test("an identity without its key stops the start, instead of becoming another agent", async () => {
    await identityOf();
    await rm(join(dataDir, "identity.key"));
    expect(await faultOf()).toContain("is missing");
  });

  test("a folder that cannot be used is a fault, not a crash", async () => {
    expect(await faultOf({ dataDir: "/dev/null/agent" })).toContain("/dev/null/agent");
  });
});

describe("identity from AGENT_PRIVATE_KEY_HEX", () => {
  const privateKeyHex = "0a".repeat(32);

  test("a key from the environment needs no disk, because the agent id is derived from it", async () => {
    const first = await identityOf({ privateKeyHex });
    const second = await identityOf({ privateKeyHex });
    expect(isAgentIdOfKey(first.agentId, first.publicKey)).toBe(true);
    expect(second.agentId).toBe(first.agentId);
    await expect(stat(dataDir)).rejects.toThrow("ENOENT");
  });

  test("a key from the environment may include its public key, and a wrong one is refused", async () => {
    const { publicKey } = await identityOf({ privateKeyHex });
    expect((await identityOf({ privateKeyHex: privateKeyHex + publicKey })).publicKey).toBe(
      publicKey,
    );
    expect(await faultOf({ privateKeyHex: privateKeyHex.repeat(2) })).toContain("second half");
    expect(await faultOf({ privateKeyHex: "0a" })).toContain("AGENT_PRIVATE_KEY_HEX");
  });

  test("a stored identity of the same key keeps its id; one of another key stops the start", async () => {
    const stored = await identityOf();
    const hex = Buffer.from(stored.secretKey).toString("hex");
    expect((await identityOf({ privateKeyHex: hex })).agentId).toBe(stored.agentId);
    expect(await faultOf({ privateKeyHex })).toContain("holds the identity of another key");
  });
});

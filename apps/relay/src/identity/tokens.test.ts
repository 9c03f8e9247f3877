import {
  createSeededRandom,
  createManualClock,
  createTestAgent,
  createToken,
  type TestAgent,
} from "@agent/testkit";
import { scopes, type Scope } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAgentRow } from "../agents/bootstrap-agent.ts";
import { insertDevice } from "../agents/devices/device-store.ts";
import { insertAgentKey, replaceAgentKey } from "../agents/keys/key-store.ts";
import { saveAgent } from "../agents/store.ts";
import { migrations } from "../storage/migrations/index.ts";
import { openMigrated } from "../../test/stored/migrated-storage.ts";
import type { Reader, Storage } from "../storage/storage.ts";
import { createTokenVerifier, type TokenVerifier } from "./tokens.ts";

let world: ReturnType<typeof createWorld>;
let storage: Storage;
let checker: TokenVerifier;
let relay: TestAgent;
let agent: TestAgent;
let reads = 0;

const createWorld = () => ({ ...createManualClock(), ...createSeededRandom(1) });

/** Counts the reads of the checker from the database. */
const countReads = (read: Reader): Reader => ({
  get: (query, params) => {
    reads += 1;
    return read.get(query, params);
  },
  all: (query, params) => read.all(query, params),
});

beforeEach(async () => {
  world = createWorld();
  const opened = await openMigrated({ path: ":memory:", migrations });
  if (!opened.ok) throw new Error(opened.detail);
  ({ storage } = opened);
  [relay, agent] = [createTestAgent(world), createTestAgent(world)];
  const read = countReads(storage.read);
  checker = createTokenVerifier({ read, audience: relay.did, now: world.now });
  await insertKnownAgent(agent, {});
  reads = 0;
});
afterEach(() => storage.close());

async function insertKnownAgent(
  { agentId, deviceId, publicKey }: TestAgent,
  { granted = scopes as readonly Scope[], agentRevoked = false, deviceRevoked = false },
): Promise<void> {
  const now = world.now();
  await storage.transaction(async (tx) => {
    const revoked_at = agentRevoked ? now : null;
    await saveAgent(tx, { ...createAgentRow(agentId, now), public_key: publicKey, revoked_at });
    const key = { agent_id: agentId, public_key: publicKey, valid_from: now, succession: null };
    await insertAgentKey(tx, key, now);
    await insertDevice(tx, {
      device_id: deviceId,
      agent_id: agentId,
      public_key: publicKey,
      device_name: null,
      scopes: granted.join(" "),
      registered_at: now,
      revoked_at: deviceRevoked ? now : null,
    });
  });
}

const token = (of = agent, scope?: readonly Scope[]) => createToken(of, relay.did, world, scope);

/** Replaces the agent's key as a rotation does. */
async function rotate(): Promise<TestAgent> {
  const { secretKey, publicKey } = createTestAgent(world);
  await storage.transaction((tx) =>
    replaceAgentKey(
      tx,
      {
        agent_id: agent.agentId,
        old_key: agent.publicKey,
        new_key: publicKey,
        now: world.now(),
        succession: "{}",
      },
      world.now(),
    ),
  );
  return { ...agent, secretKey, publicKey };
}

describe("Valid tokens", () => {
  test("a verified token names the caller's agent and device and its own expiry", async () => {
    expect(await checker.verify(await token())).toMatchObject({
      ok: true,
      caller: {
        kind: "agent",
        agentId: agent.agentId,
        deviceId: agent.deviceId,
        scopes: new Set(scopes),
        expiresAt: world.now() + 300_000,
      },
    });
  });

  test("a token grants the scopes that both the token and its device have", async () => {
    const paired = createTestAgent(world);
    await insertKnownAgent(paired, { granted: ["task:read", "task:submit"] });
    const checked = await checker.verify(await token(paired, ["task:read", "account:write"]));
    expect(checked).toMatchObject({ caller: { scopes: new Set(["task:read"]) } });
  });

  test("a token is verified once and still refused after its expiry", async () => {
    const kept = await token();
    expect(await checker.verify(kept)).toMatchObject({ ok: true });
    const asked = reads;
    await world.advance(299_999);
    expect(await checker.verify(kept)).toMatchObject({ ok: true });
    expect(reads).toBe(asked);
    await world.advance(1);
    expect(await checker.verify(kept)).toEqual({ ok: false, code: "auth.expired_token" });
  });
});

describe("Tokens after a succession", () => {
  test("KY6 a token of the old key that was verified before is refused", async () => {
    const old = await token();
    expect(await checker.verify(old)).toMatchObject({ ok: true });
    const renewed = await rotate();
    checker.evictAgent(agent.agentId);
    expect(await checker.verify(old)).toEqual({ ok: false, code: "auth.verification_failed" });
    expect(await checker.verify(await token(renewed))).toMatchObject({ ok: true });
  });

  test("D10: a token whose key changes during its verification is refused", async () => {
    const old = await token();
    const checking = checker.verify(old);
    const renewed = await rotate();
    checker.evictAgent(agent.agentId);
    expect(await checking).toEqual({ ok: false, code: "auth.verification_failed" });
    expect(await checker.verify(await token(renewed))).toMatchObject({ ok: true });
  });

  test("KY6 cached tokens of other agents stay valid", async () => {
    const other = createTestAgent(world);
    await insertKnownAgent(other, {});
    const kept = await token(other);
    await checker.verify(kept);
    checker.evictAgent(agent.agentId);
    const asked = reads;
    expect(await checker.verify(kept)).toMatchObject({ ok: true });
    expect(reads).toBe(asked);
  });
});

describe("Refused tokens", () => {
  test.each([
    ["of a revoked device", { deviceRevoked: true }, "auth.device_not_authorized"],
    ["of a revoked agent", { agentRevoked: true }, "agent.revoked"],
  ])("a token %s is refused", async (_, state, code) => {
    const gone = createTestAgent(world);
    await insertKnownAgent(gone, state);
    expect(await checker.verify(await token(gone))).toEqual({ ok: false, code });
  });

  test("a malformed token is refused before the database is read", async () => {
    expect(await checker.verify("e30.e30.AAAA")).toMatchObject({ code: "auth.malformed_token" });
    expect(reads).toBe(0);
  });
});

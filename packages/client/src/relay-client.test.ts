import { bytesToHex, generateKeyPair, publicKeyToDidKey } from "@agent/crypto";
import { operations } from "@agent/wire";
import { describe, expect, test } from "vitest";
import { createRelayClient } from "./relay-client.ts";
import { startLocalServer, type ReceivedRequest, type Reply } from "./testing/local-server.ts";
import { createManualTime } from "./testing/manual-time.ts";
import { verifyToken } from "./tokens/token.ts";

const START = 1_760_000_000_000;
const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(1));
const identity = { agentId: "agent-1", deviceId: "device-1", secretKey };
const didOf = (seed: number) =>
  publicKeyToDidKey(generateKeyPair(new Uint8Array(32).fill(seed)).publicKey);

const balance = {
  agent_id: "agent-1",
  balance: 0,
  currency: "USD",
  pending_withdrawals: 0,
  pending_allocations: 0,
  transactions: [],
};
const refused = (code: string, status: number): Reply => ({
  status,
  body: { code, message: code },
});

/** Starts a relay with the given DID that answers all other requests with `reply`. */
async function relayWith({
  did = () => didOf(9),
  reply = () => ({ status: 200, body: balance }),
}: { did?: () => string; reply?: (received: ReceivedRequest) => Reply } = {}) {
  return await startLocalServer((received) => {
    if (received.url !== operations.relayInfo.path) return reply(received);
    const body = {
      relay_id: "r",
      did: did(),
      public_key: "",
      name: "r",
      base_url: null,
      fee_rate: 0.05,
      features: [],
      version: "0.1.0",
    };
    return { status: 200, body };
  });
}

const params = { agentId: "agent-1" };
const tokensOf = (received: readonly ReceivedRequest[]) =>
  received.flatMap(({ headers }) => headers.authorization?.slice("Bearer ".length) ?? []);

async function claimsOf(token: string | undefined, audience = didOf(9), now = START) {
  const checked = await verifyToken(token ?? "", {
    publicKey: bytesToHex(publicKey),
    audience,
    now,
  });
  if (!checked.ok) throw new Error(checked.code);
  return checked.claims;
}

test("a client has a method for every operation of the contract", () => {
  const client = createRelayClient({ baseUrl: "http://127.0.0.1:1" });
  expect(Object.keys(client).toSorted()).toEqual(
    [...Object.keys(operations), "getBearer"].toSorted(),
  );
});

describe("the client of a device", () => {
  test("a device's client signs each call for this relay with exactly the scope of the operation", async () => {
    await using relay = await relayWith();
    const client = createRelayClient({ ...relay, identity, now: () => START });
    expect(await client.getBalance({ params })).toEqual({ ok: true, status: 200, body: balance });
    await client.discover();
    const [first, second] = tokensOf(relay.received);
    expect(await claimsOf(first)).toMatchObject({
      agentId: "agent-1",
      deviceId: "device-1",
      scopes: [operations.getBalance.scope],
    });
    expect((await claimsOf(second)).scopes).toEqual([]);
  });

  test("a device's client reads the relay's DID once, also for concurrent calls", async () => {
    await using relay = await relayWith();
    const client = createRelayClient({ ...relay, identity });
    await Promise.all([
      client.getBalance({ params }),
      client.getBalance({ params }),
      client.discover(),
    ]);
    const asked = relay.received.filter(({ url }) => url === operations.relayInfo.path);
    expect(asked).toHaveLength(1);
  });

  test("a device's client uses a token for four minutes and then mints another", async () => {
    await using relay = await relayWith();
    const time = createManualTime(START);
    const client = createRelayClient({ ...relay, identity, ...time });
    await client.getBalance({ params });
    time.advance(239_999);
    await client.getBalance({ params });
    time.advance(1);
    await client.getBalance({ params });
    const [first, second, third] = tokensOf(relay.received);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect((await claimsOf(third, didOf(9), time.now())).jti).not.toBe((await claimsOf(first)).jti);
  });

  test("a device's client mints a new token for each call of a single-use operation", async () => {
    await using relay = await relayWith();
    const client = createRelayClient({ ...relay, identity, relayDid: didOf(9) });
    const revoke = () => client.revokeTokens({ params, body: { jtis: ["1"] } });
    await revoke();
    await revoke();
    await client.deregisterAgent({ params });
    const tokens = tokensOf(relay.received);
    expect(new Set(tokens).size).toBe(3);
  });

  test("a device's client mints another token when its clock goes backwards", async () => {
    await using relay = await relayWith();
    let now = START;
    const client = createRelayClient({ ...relay, identity, now: () => now });
    await client.getBalance({ params });
    now -= 60_000;
    await client.getBalance({ params });
    const [first, second] = tokensOf(relay.received);
    expect(second).not.toBe(first);
  });

  test("a device's client repeats a call once when the relay has a new key", async () => {
    let seed = 9;
    await using relay = await relayWith({
      did: () => didOf(seed),
      reply: ({ headers }) =>
        seed === 9 || headers.authorization !== old
          ? { status: 200, body: balance }
          : refused("auth.verification_failed", 401),
    });
    const client = createRelayClient({ ...relay, identity, now: () => START });
    await client.getBalance({ params });
    const old = relay.received.at(-1)?.headers.authorization;
    seed = 8;
    const answers = await Promise.all([
      client.getBalance({ params }),
      client.getBalance({ params }),
    ]);
    expect(answers).toMatchObject([{ ok: true }, { ok: true }]);
    expect(await claimsOf(tokensOf(relay.received).at(-1), didOf(8))).toMatchObject({
      agentId: "agent-1",
    });
  });

  test("a device's client does not repeat a call that a relay with the same key refuses", async () => {
    await using relay = await relayWith({ reply: () => refused("auth.verification_failed", 401) });
    const client = createRelayClient({ ...relay, identity });
    expect(await client.getBalance({ params })).toMatchObject({ code: "auth.verification_failed" });
    expect(tokensOf(relay.received)).toHaveLength(1);
  });

  test("a device's client never reads a pinned DID, even after a refusal", async () => {
    await using relay = await relayWith({ reply: () => refused("auth.verification_failed", 401) });
    const client = createRelayClient({ ...relay, identity, relayDid: didOf(7), now: () => START });
    expect(await client.getBalance({ params })).toMatchObject({ code: "auth.verification_failed" });
    expect(relay.received).toHaveLength(1);
    expect(await claimsOf(tokensOf(relay.received)[0], didOf(7))).toMatchObject({
      agentId: "agent-1",
    });
  });

  test("a device's client returns the refusal of the relay's DID and reads it again at the next call", async () => {
    let up = false;
    await using relay = await startLocalServer(() =>
      up ? { status: 404, body: {} } : refused("server.unavailable", 503),
    );
    const client = createRelayClient({ ...relay, identity });
    expect(await client.getBalance({ params })).toMatchObject({ code: "server.unavailable" });
    up = true;
    expect(await client.getBalance({ params })).toMatchObject({ code: "response.malformed" });
    expect(relay.received.map(({ url }) => url)).toEqual([
      operations.relayInfo.path,
      operations.relayInfo.path,
    ]);
  });
});

test("the operator's client sends the master token and reads no DID", async () => {
  await using relay = await relayWith();
  const client = createRelayClient({ ...relay, identity: { masterToken: "master" } });
  await client.getBalance({ params });
  expect(await client.getBearer("socket")).toEqual({ ok: true, token: "master" });
  expect(relay.received.map(({ headers }) => headers.authorization)).toEqual(["Bearer master"]);
});

test("a public operation is called without a token", async () => {
  await using relay = await relayWith();
  const client = createRelayClient({ ...relay, identity });
  await client.health();
  await client.getListing({ params });
  expect(relay.received.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    undefined,
  ]);
});

test("a client without identity calls public operations only", async () => {
  await using relay = await relayWith();
  const client = createRelayClient(relay);
  await client.relayInfo();
  expect(await client.getBalance({ params })).toMatchObject({ ok: false, code: "auth.missing" });
  expect(await client.getBearer("socket")).toMatchObject({ ok: false, code: "auth.missing" });
  expect(relay.received).toHaveLength(1);
});

import { sha256Hex, hexToBytes } from "@agent/crypto";
import type { TestAgent } from "@agent/testkit";
import { limits, scopes } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  claimPairing,
  openPairing,
  createPairedDevice,
  type PairingSession,
} from "../../test/agents/pairing.ts";
import { submitAcceptedTask, createSeller } from "../../test/market.ts";
import { createRotation } from "../../test/agents/rotation.ts";
import {
  createReceipt,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../test/test-relay.ts";
import { createPairingCode } from "./pairing-code.ts";

let t: TestRelay;
let owner: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  owner = await t.createAgent();
});
afterEach(() => t.close());

const resolve = (session: PairingSession, verdict: "approve" | "deny", body?: unknown) =>
  t.as(owner, "POST", `/pairing/${session.pairing_id}/${verdict}`, body);
const read = (session: PairingSession) => t.as(owner, "GET", `/pairing/${session.pairing_id}`);
const refusal = (status: number, code: string) => ({ status, body: { code } });

describe("Pairing", () => {
  test("the key that claimed a pairing code becomes a device once the owner has approved it", async () => {
    const session = await openPairing(t, owner);
    expect(session.expires_at).toBe(t.clock.now() + limits.pairingTtlMs);
    expect((await read(session)).body).toMatchObject({ status: "pending", fingerprint: null });

    const device = t.createUnknownAgent();
    const claimed = await claimPairing(t, session, device);
    const { agentId: agent_id } = owner;
    const claim = { pairing_id: session.pairing_id, agent_id, status: "claimed" };
    expect(claimed).toMatchObject({ status: 200, body: claim });
    expect((await read(session)).body).toMatchObject({
      status: "claimed",
      device_name: "a phone",
      public_key: device.publicKey,
      fingerprint: sha256Hex(hexToBytes(device.publicKey)).slice(0, 16),
    });

    const { body } = await resolve(session, "approve");
    const { device_id } = body;
    expect(body).toEqual({ device_id, agent_id });
    expect((await claimPairing(t, session, device)).body).toMatchObject({
      status: "approved",
      device_id,
    });
    expect((await read(session)).body).toMatchObject({ status: "approved", device_id });
  });

  test("a paired device has every scope except those for money, pairing and the agent itself", async () => {
    const phone = await createPairedDevice(t, owner);
    const may = async (method: string, path: string) =>
      (await t.as(phone, method, path)).status !== 403;
    expect(await may("GET", `/agent/${owner.agentId}/tasks`)).toBe(true);
    expect(await may("GET", `/api/v1/agents/${owner.agentId}/balance`)).toBe(true);
    expect(await may("POST", "/pairing/initiate")).toBe(false);
    expect(await may("DELETE", `/api/v1/agents/${owner.agentId}`)).toBe(false);
    const listed = await t.as(owner, "GET", `/api/v1/agents/${owner.agentId}/devices`);
    const [, second] = listed.body["devices"] as { scopes: string[] }[];
    const withheld = ["account:write", "pair", "agent:write", "approvals:vote"];
    expect(second?.scopes).toEqual(scopes.filter((scope) => !withheld.includes(scope)));
  });

  test("a paired device has exactly the scopes that the owner chooses", async () => {
    const phone = await createPairedDevice(t, owner, ["pair", "pair"]);
    expect(await t.as(phone, "POST", "/pairing/initiate")).toMatchObject({ status: 201 });
    const tasks = await t.as(phone, "GET", `/agent/${owner.agentId}/tasks`);
    expect(tasks).toMatchObject(refusal(403, "auth.scope_missing"));
  });

  test("D12: a device cannot grant another device a scope that it does not have itself", async () => {
    await t.deposit(owner, 10);
    const helper = await createPairedDevice(t, owner, ["pair", "task:read"]);
    const approve = async (scopes?: readonly string[]) => {
      const session = await openPairing(t, helper);
      await claimPairing(t, session, t.createUnknownAgent());
      return t.as(helper, "POST", `/pairing/${session.pairing_id}/approve`, { scopes });
    };
    const refused = refusal(403, "pairing.scope_not_held");
    expect(await approve(["account:write"])).toMatchObject(refused);
    expect(await approve(["pair", "agent:write"])).toMatchObject(refused);
    expect(await approve(["pair"])).toMatchObject({ status: 200 });
    expect(await approve()).toMatchObject({ status: 200 });
    const listed = await t.as(owner, "GET", `/api/v1/agents/${owner.agentId}/devices`);
    const devices = listed.body["devices"] as { scopes: string[] }[];
    const granted = devices.map((device) => device.scopes.join(" "));
    expect(granted.toSorted()).toEqual(
      ["pair", "pair task:read", scopes.join(" "), "task:read"].toSorted(),
    );
  });

  test("a device that was granted no scopes is listed with none", async () => {
    const device = await createPairedDevice(t, owner, []);
    const listed = await t.as(owner, "GET", `/api/v1/agents/${owner.agentId}/devices`);
    expect(listed.body["devices"]).toContainEqual(
      expect.objectContaining({ device_id: device.deviceId, scopes: [] }),
    );
  });

  test("H23: an agent can have at most 100 devices that are not revoked", async () => {
    const phone = await createPairedDevice(t, owner);
    for (let i = 2; i < limits.devices; i += 1) await createPairedDevice(t, owner);
    const session = await openPairing(t, owner);
    await claimPairing(t, session, t.createUnknownAgent());
    expect(await resolve(session, "approve")).toMatchObject(refusal(409, "device.too_many"));
    await t.as(owner, "DELETE", `/api/v1/agents/${owner.agentId}/devices/${phone.deviceId}`);
    expect(await resolve(session, "approve")).toMatchObject({ status: 200 });
  });

  test("the relay accepts the receipts of a paired device", async () => {
    const worker = await createSeller(t, 0);
    const phone = await createPairedDevice(t, worker);
    const task = await submitAcceptedTask(t, owner, worker);
    const posted = await t.as(phone, "POST", `${task.path}/result`, createReceipt(phone, task));
    expect(posted).toMatchObject({ status: 200, body: { status: "completed" } });
  });

  test("a denied pairing creates no device, and is shown as denied to the claimant", async () => {
    const session = await openPairing(t, owner);
    const device = t.createUnknownAgent();
    await claimPairing(t, session, device);
    expect(await resolve(session, "deny")).toMatchObject({ body: { status: "denied" } });
    const { body } = await claimPairing(t, session, device);
    expect(body).toMatchObject({ status: "denied" });
    expect(body).not.toHaveProperty("device_id");
    expect(await resolve(session, "approve")).toMatchObject(refusal(409, "pairing.resolved"));
    const listed = await t.as(owner, "GET", `/api/v1/agents/${owner.agentId}/devices`);
    expect(listed.body["devices"]).toHaveLength(1);
  });

  test("a pairing that is approved twice concurrently creates one device", async () => {
    const session = await openPairing(t, owner);
    await claimPairing(t, session, t.createUnknownAgent());
    const both = await Promise.all([resolve(session, "approve"), resolve(session, "approve")]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });

  test("a pairing that was not resolved in time expires", async () => {
    const session = await openPairing(t, owner);
    const device = t.createUnknownAgent();
    await claimPairing(t, session, device);
    await t.clock.advance(limits.pairingTtlMs - 1);
    expect(await read(session)).toMatchObject({ status: 200 });
    await t.clock.advance(1);
    const gone = refusal(410, "pairing.expired");
    expect(await read(session)).toMatchObject(gone);
    expect(await resolve(session, "approve")).toMatchObject(gone);
    expect(await claimPairing(t, session, device)).toMatchObject(gone);
  });

  test("a pairing is purged a day later, and its code is then unknown", async () => {
    const session = await openPairing(t, owner);
    await t.clock.advance(limits.pairingTtlMs + limits.pairingRetentionMs);
    await t.relay.tick();
    const claimed = await claimPairing(t, session, t.createUnknownAgent());
    expect(claimed).toMatchObject(refusal(404, "pairing.not_found"));
    expect(await read(session)).toMatchObject(refusal(404, "pairing.not_found"));
  });

  test("the operator may resolve a pairing", async () => {
    const { agentId: agent_id } = owner;
    const { body } = await t.asOperator("POST", "/pairing/initiate", { agent_id });
    await claimPairing(t, body as unknown as PairingSession, t.createUnknownAgent());
    const path = `/pairing/${String(body["pairing_id"])}/approve`;
    expect(await t.asOperator("POST", path)).toMatchObject({ status: 200, body: { agent_id } });
  });

  test("a pairing may have another lifetime", async () => {
    const short = await startTestRelay({ AGENT_PAIRING_TTL_MS: "1000" });
    const { expires_at } = await openPairing(short, await short.createAgent());
    expect(expires_at).toBe(short.clock.now() + 1_000);
    await short.close();
  });
});

describe("Pairing codes", () => {
  test("a pairing code consists of six unambiguous characters and is accepted in any case and spacing", async () => {
    const session = await openPairing(t, owner);
    const { pairing_code } = session;
    expect(pairing_code).toMatch(/^[2-9A-HJKMNP-Z]{6}$/);
    const formatted = `${pairing_code.slice(0, 3).toLowerCase()}-${pairing_code.slice(3)} `;
    const claimed = await claimPairing(t, { pairing_code: formatted }, t.createUnknownAgent());
    expect(claimed).toMatchObject({ status: 200 });
  });

  test("each of the 31 characters of a pairing code is drawn equally often", () => {
    const counts = new Map<string, number>();
    for (let byte = 0; byte < 256; byte += 1) {
      let batches = 0;
      const code = createPairingCode((length) => {
        batches += 1;
        return new Uint8Array(length).fill(batches === 1 ? byte : 0);
      });
      const drawn = batches === 1 ? code : "passed over";
      counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
    }
    // The eight highest values of a byte would favour some of the 31 characters.
    expect([...counts.values()]).toEqual(Array.from({ length: 32 }, () => 8));
  });

  test("only one key is accepted for each code, even if two claim it concurrently", async () => {
    const session = await openPairing(t, owner);
    const both = await Promise.all([
      claimPairing(t, session, t.createUnknownAgent()),
      claimPairing(t, session, t.createUnknownAgent()),
    ]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  });

  test.each<[string, () => Promise<Pick<TestAgent, "publicKey">>]>([
    ["the agent's own key", async () => owner],
    [
      "a former key of the agent",
      async () => {
        const { succession } = createRotation(t, owner);
        const path = `/api/v1/agents/${owner.agentId}/rotate-key`;
        await t.asOperator("POST", path, { succession });
        return owner;
      },
    ],
    [
      "the key of a revoked device",
      async () => {
        const phone = await createPairedDevice(t, owner);
        const path = `/api/v1/agents/${owner.agentId}/devices/${phone.deviceId}`;
        await t.as(owner, "DELETE", path);
        return phone;
      },
    ],
    ["a key of small order", async () => ({ publicKey: "00".repeat(32) })],
  ])("the relay refuses to claim a code with %s", async (_, keyOf) => {
    const { agent_id } = { agent_id: owner.agentId };
    const key = await keyOf();
    const { body } = await t.asOperator("POST", "/pairing/initiate", { agent_id });
    const claimed = await claimPairing(t, body as unknown as PairingSession, key);
    expect(claimed).toMatchObject(refusal(400, "agent.key_unacceptable"));
  });
});

describe("Guesses of pairing codes", () => {
  const guess = () => claimPairing(t, { pairing_code: "AAAAAA" }, t.createUnknownAgent());
  const guessRepeatedly = async (times: number): Promise<Reply[]> => {
    const replies = [];
    for (let i = 0; i < times; i += 1) replies.push(await guess());
    return replies;
  };

  test("the relay refuses an address after five wrong codes for the lifetime of a code, even with a correct code", async () => {
    const replies = await guessRepeatedly(6);
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 429]);
    const session = await openPairing(t, owner);
    await t.clock.advance(limits.pairingTtlMs - 1);
    const refused = await claimPairing(t, session, t.createUnknownAgent());
    expect(refused).toMatchObject(refusal(429, "pairing.too_many_tries"));
    expect(refused.headers.get("retry-after")).toBe("1");
    await t.clock.advance(1);
    expect(
      await claimPairing(t, await openPairing(t, owner), t.createUnknownAgent()),
    ).toMatchObject({
      status: 200,
    });
  });

  test("the relay accepts an address after four wrong codes, and after the wrong codes of others", async () => {
    await guessRepeatedly(4);
    const session = await openPairing(t, owner);
    expect(await claimPairing(t, session, t.createUnknownAgent())).toMatchObject({ status: 200 });
    await guess();
    const body = {
      pairing_code: "AAAAAA",
      device_name: "x",
      public_key: t.createUnknownAgent().publicKey,
    };
    const elsewhere = await t.relay.fetch(
      new Request("http://relay.test/pairing/claim", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
      { incoming: { socket: { remoteAddress: "192.0.2.7" } } },
    );
    expect(elsewhere.status).toBe(404);
    expect(await guess()).toMatchObject({ status: 429 });
  });
});

import { verifyArtifact } from "@agent/verify";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  beginCase,
  createParties,
  decide,
  giveVerdict,
  type Parties,
  signVerdict,
} from "../../../test/inspections.ts";
import { claimPairing, createPairedDevice, openPairing } from "../../../test/agents/pairing.ts";
import {
  createRotation,
  type RotationRoute,
  rotationRoutes,
} from "../../../test/agents/rotation.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay();
  parties = await createParties(t);
});
afterEach(() => t.close());

test("a device signs for its agent until it is revoked, and its statement stays valid", async () => {
  const { agentId: arbiter_id } = parties.arbiter;
  const device = await createPairedDevice(t, parties.boss);
  const given = await beginCase(t, parties, { arbiter_id });
  const later = await beginCase(t, parties);
  const byDevice = { ...given, boss: device };
  expect((await giveVerdict(t, byDevice, "rejected")).status).toBe(200);
  await giveVerdict(t, given, "contested");
  await decide(t, given, 0.25);

  const path = `/api/v1/agents/${device.agentId}/devices/${device.deviceId}`;
  expect((await t.as(parties.boss, "DELETE", path)).status).toBe(200);
  const statement = signVerdict(t, { ...later, boss: device }, "rejected");
  const refused = await t.as(parties.boss, "POST", `${later.task.path}/verdict`, statement);
  expect(refused).toMatchObject({ status: 403, body: { code: "inspection.signature_invalid" } });
  await t.clock.advance(3_600_000);
  const { text } = await t.as(parties.boss, "GET", `${given.task.path}/evidence`);
  expect(verifyArtifact(text)).toMatchObject({ kind: "bundle", valid: true });
});

test("a token without the scope task:result cannot give a verdict", async () => {
  const given = await beginCase(t, parties);
  const request = {
    token: await t.token(given.boss, ["task:read"]),
    body: signVerdict(t, given, "accepted"),
  };
  const refused = await t.request("POST", `${given.task.path}/verdict`, request);
  expect(refused).toMatchObject({ status: 403, body: { code: "auth.scope_missing" } });
});

test.each([true, false])(
  "IS39: a party cannot invalidate the evidence by taking over the key of its device (revoked: %s)",
  async (isRevoked) => {
    const { boss } = parties;
    const device = await createPairedDevice(t, boss);
    const given = await beginCase(t, parties);
    expect((await giveVerdict(t, { ...given, boss: device }, "rejected")).status).toBe(200);
    await giveVerdict(t, given, "conceded");
    await t.clock.advance(3_600_000);
    const path = `/api/v1/agents/${boss.agentId}/devices/${device.deviceId}`;
    if (isRevoked) await t.as(boss, "DELETE", path);
    const { body } = await t.as(boss, "GET", `/api/v1/devices/${device.deviceId}`);
    expect(body["revoked"]).toBe(isRevoked);
    const rotation = createRotation(t, boss, { to: device });
    for (const changeKey of Object.values<RotationRoute>(rotationRoutes)) {
      const refused = await changeKey(t, boss, rotation);
      expect(refused).toMatchObject({ status: 400, body: { code: "agent.key_unacceptable" } });
    }
    const another = createRotation(t, boss);
    expect((await rotationRoutes["rotate-key"](t, boss, another)).status).toBe(200);
    const { text } = await t.asOperator("GET", `${given.task.path}/evidence`);
    expect(verifyArtifact(text).code).toBeUndefined();
  },
);

test("IS39: a key that became a former key of the agent while its pairing waited is not approved", async () => {
  const { boss } = parties;
  const session = await openPairing(t, boss);
  const waiting = t.createUnknownAgent();
  expect((await claimPairing(t, session, waiting)).status).toBe(200);
  let owner = boss;
  for (const to of [waiting, t.createUnknownAgent()]) {
    const rotation = createRotation(t, owner, { to });
    expect((await rotationRoutes["rotate-key"](t, owner, rotation)).status).toBe(200);
    owner = rotation.next;
    await t.clock.advance(1);
  }
  const approved = await t.as(owner, "POST", `/pairing/${session.pairing_id}/approve`, {});
  expect(approved).toMatchObject({ status: 400, body: { code: "agent.key_unacceptable" } });
});

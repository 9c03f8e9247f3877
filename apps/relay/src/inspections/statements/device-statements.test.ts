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
import { createPairedDevice } from "../../../test/agents/pairing.ts";
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

test("a token without the scope task:result gives no verdict", async () => {
  const given = await beginCase(t, parties);
  const request = {
    token: await t.token(given.boss, ["task:read"]),
    body: signVerdict(t, given, "accepted"),
  };
  const refused = await t.request("POST", `${given.task.path}/verdict`, request);
  expect(refused).toMatchObject({ status: 403, body: { code: "auth.scope_missing" } });
});

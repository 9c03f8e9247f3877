import { afterEach, beforeEach, expect, test } from "vitest";
import {
  DAY_MS,
  startJumpingRelay,
  type JumpingRelay,
} from "../../../test/processes/clock-jump-relay.ts";
import { federated, forwardTaskToPeer } from "../../../test/contract/operator/federation.ts";

let t: JumpingRelay;
let away: Awaited<ReturnType<typeof forwardTaskToPeer>>;
beforeEach(async () => {
  t = await startJumpingRelay({ ...federated, AGENT_FEDERATION_RETRY_SCALE: "0.05" });
  away = await forwardTaskToPeer(t);
});
afterEach(async () => {
  await t.close();
  await away.listening.close();
});

const accept = () => t.asOperator("POST", "/api/v1/admin/clock/accept");
const countSent = () =>
  away.listening.requests.filter(({ path }) => path.endsWith("/settlement/forward")).length;

/** Advances the time second by second and runs the jobs, which settle with the peer. */
async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await t.advance(1_000);
    await t.relay.idle();
  }
}

test("MN25: a settlement that failed while the clock was wrong is sent again on time once the clock is right", async () => {
  const { peer, receipt } = away;
  const returned = await peer.post("/federation/v1/task/result", peer.createResult(receipt));
  expect(returned).toMatchObject({ status: 200 });
  await pass(1);
  expect(countSent()).toBe(1);
  t.setAhead(3 * DAY_MS);
  await t.advance(1_000);
  await accept();
  // The attempt after 1.5 s fails, and sets the time of the next one.
  await pass(3);
  const sent = countSent();
  expect(sent).toBeGreaterThan(1);
  t.setAhead(0);
  await t.advance(1_000);
  await accept();
  // The longest pause is 6 minutes.
  await pass(16);
  await t.advance(380_000);
  await t.relay.idle();
  expect(countSent()).toBeGreaterThan(sent);
});

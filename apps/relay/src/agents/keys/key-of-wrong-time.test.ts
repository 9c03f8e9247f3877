import { createToken, type TestAgent } from "@agent/testkit";
import { verifyArtifact } from "@agent/verify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createPairedDevice } from "../../../test/agents/pairing.ts";
import { createRotation, rotationRoutes } from "../../../test/agents/rotation.ts";
import { createBuyer, createSeller, getTaskAt, putListing } from "../../../test/market.ts";
import {
  DAY_MS,
  startJumpingRelay,
  type JumpingRelay,
} from "../../../test/processes/clock-jump-relay.ts";
import { createReceipt } from "../../../test/test-relay.ts";

const AHEAD_MS = 3 * DAY_MS;

let t: JumpingRelay;
beforeEach(async () => {
  t = await startJumpingRelay();
});
afterEach(() => t.close());

async function acceptClock(ahead: number): Promise<void> {
  t.setAhead(ahead);
  await t.advance(1_000);
  const { status } = await t.asOperator("POST", "/api/v1/admin/clock/accept");
  expect(status).toBe(200);
}

/** The relay as called by agents whose clocks are wrong as well. */
const withAgentsAhead = (ahead: number): JumpingRelay => ({
  ...t,
  async as(agent, method, path, body) {
    const now = () => t.clock.now() + ahead;
    const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
    const token = await createToken(agent, t.did, { now, randomBytes });
    return t.request(method, path, { token, body });
  },
});

async function rotate(at: JumpingRelay, agent: TestAgent): Promise<TestAgent> {
  const rotation = createRotation(at, agent);
  expect(await rotationRoutes["rotate-key"](at, agent, rotation)).toMatchObject({ status: 200 });
  return rotation.next;
}

const join = async (at: JumpingRelay, agent: TestAgent) => {
  const claim = { agent_id: agent.agentId, public_key: agent.publicKey };
  const { body } = await at.request("POST", "/api/v1/agents/bootstrap", { body: claim });
  const joined = { ...agent, deviceId: String(body["device_id"]) };
  await putListing(at, joined, 2);
  return joined;
};

type Bind = (at: JumpingRelay, agent: TestAgent) => Promise<TestAgent>;
const seller = () => createSeller(t, 2);
/** Each agent before the relay's clock is wrong, and the binding of its key meanwhile. */
const signers: Record<string, readonly [() => Promise<TestAgent>, Bind]> = {
  "an agent that joined": [async () => t.createUnknownAgent(), join],
  "an agent that replaced its key": [seller, rotate],
  "an agent that paired a device": [seller, createPairedDevice],
};

test.each(
  Object.keys(signers).flatMap((name) => [
    [name, "three days ahead", AHEAD_MS] as const,
    [name, "right", 0] as const,
  ]),
)(
  "MN46: %s while the relay's clock was %s is paid once that clock is right",
  async (name, _, ahead) => {
    const boss = await createBuyer(t, 10);
    const [prepare, bind] = signers[name] ?? [seller, rotate];
    const agent = await prepare();
    await acceptClock(ahead);
    const worker = await bind(withAgentsAhead(ahead), agent);
    await acceptClock(0);
    await t.advance(15_000);
    const path = await submit(boss, worker);
    const { task_id, submitted_at } = await getTaskAt(t, path);
    const receipt = createReceipt(worker, { task_id, prompt: "work", submitted_at });
    const delivered = await t.as(worker, "POST", `${path}/result`, receipt);
    expect(delivered).toMatchObject({ status: 200 });
    const { text } = await t.as(boss, "GET", `${path}/evidence`);
    expect(verifyArtifact(text)).toMatchObject({ kind: "bundle", valid: true });
    expect(await t.getBalance(boss)).toBe(8);
  },
);

async function submit(boss: TestAgent, { agentId }: TestAgent): Promise<string> {
  const sent = await t.as(boss, "POST", `/agent/${agentId}/task`, { prompt: "work" });
  return `/agent/${agentId}/task/${String(sent.body["task_id"])}`;
}

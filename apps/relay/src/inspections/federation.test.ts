import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toMicro } from "@agent/budget";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readBesideRelay } from "../../test/engine/stored.ts";
import { createParties, type Parties, putOffer } from "../../test/inspections.ts";
import { expectConsistentBooks, getTaskAt, submitTask } from "../../test/market.ts";
import { startNetwork, type TestSite } from "../../test/network/network.ts";
import { startTestRelay } from "../../test/test-relay.ts";
import type { Attempt } from "../routing/attempt.ts";
import type { TaskAcceptance } from "../tasks/task-view.ts";
import { listWithdrawnOffers } from "./acceptance/accept-terms.ts";

let network: Awaited<ReturnType<typeof startNetwork>>;
let here: TestSite;
let there: TestSite;
let local: Parties;
/** A worker of the other relay. */
let remote: TestAgent;
beforeEach(async () => {
  network = await startNetwork(["alpha", "beta"], [[0, 1]]);
  [here, there] = network.sites as [TestSite, TestSite];
  local = await createParties(here);
  remote = await there.createWorker(2);
  await putOffer(there, remote);
});
afterEach(() => network.close());

describe("a peer's agent that offers an inspection at its own relay", () => {
  test("IS17: an inspected task for a peer's agent is refused, and nothing is held or sent", async () => {
    const { boss } = local;
    const { body } = await submitTask(here, boss, remote, { acceptance: {} });
    expect(body["code"]).toBe("acceptance.not_offered");
    expect(await here.getBalance(boss)).toBe(10);
    await expectConsistentBooks(here, { holds: 0 });
    // The same task without terms goes to the peer.
    const sent = await submitTask(here, boss, remote);
    expect(sent.status).toBe(201);
    // Its worker offers an inspection, but the task of a peer never has one.
    const path = `/agent/${remote.agentId}/task/${String(sent.body["task_id"])}`;
    await expect.poll(async () => (await there.asOperator("GET", path)).status).toBe(200);
    expect(await getTaskAt(there, path)).not.toHaveProperty("acceptance");
  });

  test("IS17: a peer's agent is left out of scored routing for an inspected task, although it is cheaper", async () => {
    await putOffer(there, remote, { price: 0.5 });
    const wanted = { required_capabilities: ["summarise"] };
    const target = here.createUnknownAgent();
    const chosen = async (more: object) => {
      const { body } = await submitTask(here, local.boss, target, { ...wanted, ...more });
      return (body["routing_choice"] as { selected_agent: string } | undefined)?.selected_agent;
    };
    expect(await chosen({ acceptance: {} })).toBe(local.worker.agentId);
    const others = { exclude_agents: [local.worker.agentId] };
    expect(await chosen(others)).toBe(remote.agentId);
  });
});

test("IS17: a peer's agent offers no inspection through the listing of a local agent with the same id", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-namesake-"));
  const AGENT_DB_PATH = join(folder, "relay.db");
  const t = await startTestRelay({ AGENT_DB_PATH });
  const { boss, worker } = await createParties(t);
  const { body } = await submitTask(t, boss, worker, { acceptance: {} });
  const terms = body as unknown as TaskAcceptance;
  const listWithdrawn = (via: Pick<Attempt, "via">) =>
    readBesideRelay(AGENT_DB_PATH, (read) => {
      const attempt = { agent_id: worker.agentId, charge: toMicro(2), ...via };
      return listWithdrawnOffers(read, [attempt], terms, t.relay.relayId);
    });
  expect(await listWithdrawn({})).toEqual([]);
  // The local agent came to this relay after the remote one was chosen.
  expect(
    await listWithdrawn({ via: { relay_id: "peer", public_key: worker.publicKey, route: [] } }),
  ).toEqual([worker.agentId]);
  await t.close();
  rmSync(folder, { recursive: true });
});

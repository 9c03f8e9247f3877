import type { TestAgent } from "@agent/testkit";
import type { RelayProcess } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { onlyOn } from "../engine/engine.ts";
import { listenAsDevice, type Device } from "./listen-as-device.ts";
import { startCluster, type Cluster, type Member } from "./start-cluster.ts";

describe.runIf(onlyOn("postgres"))("the online histories of three processes", () => {
  let cluster: Cluster;
  const devices: Device[] = [];
  beforeEach(async () => {
    cluster = await startCluster(3);
  });
  afterEach(async () => {
    for (const { socket } of devices.splice(0)) socket.close();
    await cluster.stop();
  });

  async function connect(member: Member): Promise<TestAgent> {
    const agent = await cluster.createAgent();
    const device = listenAsDevice(agent, member.url);
    devices.push(device);
    await device.heard("ready");
    return agent;
  }

  async function leads(member: Member): Promise<boolean> {
    const { body } = await cluster.asOperator(member, "GET", "/api/v1/admin/processes");
    const processes = body["processes"] as RelayProcess[];
    return processes.some((process) => process.answers && process.leads);
  }

  async function countSpans(member: Member, { agentId }: TestAgent): Promise<number> {
    const path = `/api/v1/admin/agents/${agentId}/online-history`;
    const { body } = await cluster.asOperator(member, "GET", path);
    return (body["spans"] as unknown[]).length;
  }

  test("the online histories have the agents of all processes, by the samples of the one that leads", async () => {
    const agents = new Map<Member, TestAgent>();
    for (const member of cluster.members) agents.set(member, await connect(member));
    const before = await Promise.all(cluster.members.map(leads));
    const leader = cluster.members[before.indexOf(true)] as Member;
    const others = cluster.members.filter((member) => member !== leader);
    // The leader's first sample was before the devices connected; the next leader takes a sample at once.
    await leader.stop();
    const counts = () =>
      Promise.all(others.map((member) => countSpans(member, agents.get(member) as TestAgent)));
    await expect.poll(counts, { timeout: 40_000 }).toEqual([1, 1]);
    const [witness] = others as [Member];
    expect(await countSpans(witness, agents.get(leader) as TestAgent)).toBe(0);
  });
});

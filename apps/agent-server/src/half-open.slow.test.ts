import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { startJoinedAgent } from "./testing/agents/start-agent.ts";
import { startTestRelay } from "./testing/agents/test-relay.ts";

/** Starts a network whose connections can be cut without a sign to either side; new ones work. */
async function startNetwork(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) sockets.add(socket.on("error", () => {}));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test("H27: an agent whose connection was lost without notice works again within 45 s", async () => {
  const relay = await startTestRelay(0, { AGENT_PRIVATE_ENDPOINTS: "block" });
  const network = await startNetwork(relay.port);
  const lost = Promise.withResolvers<void>();
  const running = await startJoinedAgent({
    relayUrl: network.url,
    file: { offer: "all" },
    log: (_, event) => {
      if (event === "socket.down") lost.resolve();
    },
  });
  const params = { agentId: running.agent.identity.agentId };
  const complete = async (timeout: number) => {
    const submitted = await relay.operator.submitTask({ params, body: { prompt: "p" } });
    const taskId = submitted.ok ? submitted.body.task_id : "";
    const status = async () => {
      const answer = await relay.operator.getTask({ params: { ...params, taskId }, query: {} });
      return answer.ok && answer.body.task.status;
    };
    await expect.poll(status, { timeout, interval: 200 }).toBe("completed");
  };
  await complete(10_000);
  network.cut();
  await complete(45_000);
  await lost.promise;
  await running.stop();
  network.close();
  await relay.stop();
});

import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveTestRelay, settleEventLoop, type ServedRelay } from "../../../test/devices.ts";
import { createBuyer, createSeller, submitAcceptedTask } from "../../../test/market.ts";

let t: ServedRelay;
const sockets: Socket[] = [];
beforeEach(async () => {
  t = await serveTestRelay();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await t.close();
});

function dial(): Socket {
  const socket = connect(Number(new URL(t.baseUrl).port), "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {});
  return socket;
}

test("H1: streams that were pipelined on a connection no longer count once it closes", async () => {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  const { path } = await submitAcceptedTask(t, boss, worker);
  const token = await t.token(boss);
  const request = `GET ${path}/events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const open = () =>
    fetch(`${t.baseUrl}${path}/events`, { headers: { authorization: `Bearer ${token}` } });
  const socket = dial();
  socket.write(request.repeat(8));
  let received = "";
  socket.on("data", (piece: Buffer) => (received += piece.toString()));
  await expect.poll(() => received).toContain("submitted");
  await expect
    .poll(async () => {
      const answer = await open();
      await answer.body?.cancel();
      return answer.status;
    })
    .toBe(429);
  socket.destroy();
  await settleEventLoop();
  await expect
    .poll(async () => {
      const answer = await open();
      await answer.body?.cancel();
      return answer.status;
    })
    .toBe(200);
  const all = await Promise.all(Array.from({ length: 8 }, open));
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
  for (const { body } of all) await body?.cancel();
});

test("H2: a client of HTTP/1.0 and one that expects 100-continue are answered", async () => {
  const old = dial();
  let answer = "";
  old.on("data", (piece: Buffer) => (answer += piece.toString()));
  old.write("GET /health HTTP/1.0\r\nHost: relay\r\n\r\n");
  await expect.poll(() => answer).toContain("200 OK");
  const careful = dial();
  let text = "";
  careful.on("data", (piece: Buffer) => (text += piece.toString()));
  const body = JSON.stringify({ agent_id: "x" });
  const head = `POST /api/v1/agents/bootstrap HTTP/1.1\r\nHost: relay\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`;
  careful.write(head);
  await expect.poll(() => text).toContain("100 Continue");
  careful.write(body);
  await expect.poll(() => text).toContain("400 Bad Request");
});

import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveTestRelay, settleEventLoop, type ServedRelay } from "../../test/devices.ts";

let t: ServedRelay;
beforeEach(async () => {
  t = await serveTestRelay();
});
afterEach(() => t.close());

/** A frame of a client: text, masked with zeros. */
function frame(text: string): Buffer {
  const body = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0]), body]);
}

test("H13: a refused WebSocket whose client does not answer is closed after 2 s", async () => {
  const agent = await t.createAgent();
  const socket = connect(Number(new URL(t.baseUrl).port), "127.0.0.1");
  let [received, isClosed] = [Buffer.alloc(0), false];
  socket.on("data", (piece: Buffer) => (received = Buffer.concat([received, piece])));
  socket.on("error", () => {});
  socket.once("close", () => (isClosed = true));
  socket.write(
    [
      `GET /ws/v1/agents/${agent.agentId} HTTP/1.1`,
      "Host: relay",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
      "",
      "",
    ].join("\r\n"),
  );
  while (!received.includes("\r\n\r\n")) await settleEventLoop();
  socket.write(frame(JSON.stringify({ type: "auth", token: "junk" })));
  const closingFrame = Buffer.from([0x11, 0x31]);
  // 4401, big-endian, in the relay's closing frame.
  while (!received.includes(closingFrame)) await settleEventLoop();
  await t.clock.advance(1_900);
  await settleEventLoop();
  expect(isClosed).toBe(false);
  await t.clock.advance(100);
  await settleEventLoop();
  expect(isClosed).toBe(true);
});

test("H13: a refused WebSocket whose client answers is closed with its code at once", async () => {
  const agent = await t.createAgent();
  const device = await t.connect(agent);
  device.send({ type: "auth", token: "junk" });
  expect(await device.closed).toMatchObject({ code: 4401 });
});

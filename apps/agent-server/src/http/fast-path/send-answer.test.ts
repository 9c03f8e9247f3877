import { createManualClock } from "@agent/testkit";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sendAnswer } from "./send-answer.ts";

let clock: ReturnType<typeof createManualClock>;
let answer: PromiseWithResolvers<object | undefined>;
let asked: PromiseWithResolvers<void>;
let sent: Promise<void>;
let closed: Promise<unknown>;
const server = createServer((_, response) => {
  closed = once(response, "close");
  const headers = { "mcp-session-id": "session" };
  sent = sendAnswer(response, answer.promise, { headers, schedule: clock.schedule });
  asked.resolve();
});
let url: string;

beforeEach(async () => {
  clock = createManualClock();
  answer = Promise.withResolvers();
  asked = Promise.withResolvers();
  await once(server.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function ask(signal?: AbortSignal): Promise<{ response: Promise<Response> }> {
  const response = fetch(url, signal === undefined ? {} : { signal });
  await asked.promise;
  return { response };
}

describe("the answer to a call", () => {
  test("an immediate answer is sent as JSON", async () => {
    const { response } = await ask();
    answer.resolve({ id: 1, text: "ä" });
    const { status, headers } = await response;
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json");
    expect(headers.get("content-length")).toBe("20");
    expect(headers.get("mcp-session-id")).toBe("session");
    expect(await (await response).json()).toEqual({ id: 1, text: "ä" });
  });

  test("a slow answer is sent as a stream that is kept alive", async () => {
    const { response } = await ask();
    await clock.advance(1_000);
    const { status, headers } = await response;
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(headers.get("mcp-session-id")).toBe("session");
    await clock.advance(15_000);
    answer.resolve({ id: 1 });
    expect(await (await response).text()).toBe(
      ': keep-alive\n\nevent: message\ndata: {"id":1}\n\n',
    );
  });

  test("an answer that is not awaited gets 202", async () => {
    const { response } = await ask();
    answer.resolve(undefined);
    expect((await response).status).toBe(202);
    expect(await (await response).text()).toBe("");
  });

  test("an answer that is no longer awaited ends its stream", async () => {
    const { response } = await ask();
    await clock.advance(1_000);
    answer.resolve(undefined);
    expect(await (await response).text()).toBe("");
  });

  test.each([0, 1_000])(
    "no answer is sent to a client that disconnected after %i ms",
    async (ms) => {
      const client = new AbortController();
      const { response } = await ask(client.signal);
      await clock.advance(ms);
      client.abort();
      await expect(response.then((got) => got.text())).rejects.toThrow("abort");
      await closed;
      await clock.advance(15_000);
      answer.resolve({ id: 1 });
      await sent;
      expect(clock.pending()).toEqual([]);
    },
  );
});

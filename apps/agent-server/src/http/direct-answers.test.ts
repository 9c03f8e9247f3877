import { manualClock } from "@agent/testkit";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { describe, expect, test } from "vitest";
import { directAnswers } from "./direct-answers.ts";

const authInfo = { token: "", clientId: "owner", scopes: [] };

function newTransport() {
  const clock = manualClock();
  const sent: JSONRPCMessage[] = [];
  const received: JSONRPCMessage[] = [];
  const transport: Transport = {
    sessionId: "session",
    start: async () => {},
    close: async () => {},
    send: async (message) => void sent.push(message),
    onmessage: (message) => void received.push(message),
  };
  const answers = directAnswers(transport, clock);
  const reply = (id: number) => transport.send({ jsonrpc: "2.0", id, result: { value: id } });
  return { clock, transport, answers, reply, sent, received };
}

const call = (id: number, meta = {}) => ({
  jsonrpc: "2.0" as const,
  id,
  method: "tools/call",
  params: { name: "x", _meta: meta },
});

function ask(
  { answers }: ReturnType<typeof newTransport>,
  parsedBody: unknown,
  headers: Record<string, string> = {},
) {
  const accept = "application/json, text/event-stream";
  const request = new Request("http://a/mcp", { method: "POST", headers: { accept, ...headers } });
  return answers.answer(request, { parsedBody, authInfo });
}

describe("a request of a session", () => {
  test("is answered as JSON, and its answer goes no other way", async () => {
    const session = newTransport();
    const answer = ask(session, call(1));
    expect(session.received).toEqual([call(1)]);
    await session.reply(1);
    const response = await answer;
    expect(response?.headers.get("content-type")).toBe("application/json");
    expect(response?.headers.get("mcp-session-id")).toBe("session");
    expect(await response?.json()).toEqual({ jsonrpc: "2.0", id: 1, result: { value: 1 } });
    expect(session.sent).toEqual([]);
  });

  test("gets its own answer, whatever the order", async () => {
    const session = newTransport();
    const first = ask(session, call(1));
    const second = ask(session, call(2));
    await session.reply(2);
    await session.reply(1);
    expect(await (await first)?.json()).toMatchObject({ id: 1 });
    expect(await (await second)?.json()).toMatchObject({ id: 2 });
  });

  test("that takes longer becomes a stream, kept alive until the answer", async () => {
    const session = newTransport();
    const answer = ask(session, call(1));
    await session.clock.advance(1_000);
    const response = await answer;
    expect(response?.headers.get("content-type")).toBe("text/event-stream");
    await session.clock.advance(15_000);
    await session.reply(1);
    expect(await response?.text()).toBe(
      ': still at it\n\nevent: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"value":1}}\n\n',
    );
  });

  test("whose client went away goes on, and its answer goes nowhere", async () => {
    const session = newTransport();
    const answer = ask(session, call(1));
    await session.clock.advance(1_000);
    await (await answer)?.body?.cancel();
    await session.clock.advance(15_000);
    await session.reply(1);
    expect(session.sent).toEqual([]);
  });

  test.each([
    ["that was cancelled", (session: ReturnType<typeof newTransport>) => session.answers.cancel(1)],
    [
      "of a session that ends",
      (session: ReturnType<typeof newTransport>) => session.answers.close(),
    ],
  ])("%s ends without an answer", async (_, end) => {
    const session = newTransport();
    const answer = ask(session, call(1));
    end(session);
    expect((await answer)?.status).toBe(202);
  });

  test.each<[string, unknown, Record<string, string>]>([
    ["that wants progress", call(1, { progressToken: 7 }), {}],
    ["that opens the session", { ...call(1), method: "initialize" }, {}],
    ["among others", [call(1), call(2)], {}],
    ["that is a notification", { jsonrpc: "2.0", method: "notifications/cancelled" }, {}],
    ["of an unknown revision", call(1), { "mcp-protocol-version": "1999-01-01" }],
    ["that takes no stream", call(1), { accept: "application/json" }],
    ["that is none", { id: 1 }, {}],
    ["with a member of its own", { ...call(1), result: {} }, {}],
    ["with half an id", { ...call(1), id: 0.5 }, {}],
    ["with a list of parameters", { ...call(1), params: [] }, {}],
    ["with meta data that are none", { ...call(1), params: { _meta: 7 } }, {}],
    ["with a reserved name misused", call(1, { "io.modelcontextprotocol/related-task": 7 }), {}],
  ])("%s is the transport's", (_, body, headers) => {
    const session = newTransport();
    expect(ask(session, body, headers)).toBeUndefined();
    expect(session.received).toEqual([]);
  });

  test("leaves what else the server says to the transport", async () => {
    const session = newTransport();
    const notice = { jsonrpc: "2.0" as const, method: "notifications/tools/list_changed" };
    await session.transport.send(notice);
    await session.reply(9);
    expect(session.sent).toEqual([notice, { jsonrpc: "2.0", id: 9, result: { value: 9 } }]);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFastRuntime } from "../testing/agents/fast-runtime.ts";
import {
  buildDelta,
  replyCutOff,
  replyDeltas,
  formatEvent,
  replyJson,
  replyToolCalls,
  replyText,
  neverReply,
  startModelServer,
  replyStatus,
  replyStream,
  type ModelServer,
  type Reply,
} from "../testing/servers/model-server.ts";
import { createChat, type ChatMessage } from "./chat.ts";
import { createModelCaller } from "./model-caller.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const user: ChatMessage = { role: "user", content: "hello" };

async function ask(replies: Reply[], messages: ChatMessage[] = [user], apiKey?: string) {
  server.setReplies(...replies);
  const runtime = createFastRuntime();
  const endpoint = { baseUrl: server.baseUrl, model: "m1", apiKey };
  const chat = createChat(createModelCaller(endpoint, runtime));
  const answer = await chat({ messages, tools: [] }, new AbortController().signal);
  return { answer, waits: runtime.waits, seen: server.received };
}

const text = (value: string, complete = true) => ({
  ok: true,
  value: { text: value, toolRequests: [], complete },
});

describe("a request", () => {
  test("a request names the model, asks for a stream and carries the key", async () => {
    const { seen } = await ask([replyText("x")], [user], "key-1");
    expect(seen).toEqual([
      {
        path: "/v1/chat/completions",
        authorization: "Bearer key-1",
        body: { model: "m1", stream: true, messages: [user] },
      },
    ]);
  });

  test("a request carries no key if there is none", async () => {
    expect((await ask([replyText("x")])).seen[0]?.authorization).toBeUndefined();
  });

  test("a request contains the earlier tool calls and their answers", async () => {
    const request = { id: "c1", name: "shout", arguments: "{}" };
    const { seen } = await ask(
      [replyText("x")],
      [
        user,
        { role: "assistant", content: null, toolRequests: [request] },
        { role: "tool", toolRequestId: "c1", content: "HI" },
      ],
    );
    expect(seen[0]?.body.messages?.slice(1)).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "shout", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "HI" },
    ]);
  });
});

describe("an answer", () => {
  const reply = { choices: [{ message: { content: "whole" }, finish_reason: "stop" }] };
  test.each<[string, Reply, unknown]>([
    ["a stream", replyText("Grüße, 世界 🙂"), text("Grüße, 世界 🙂")],
    ["one piece, from an endpoint without streams", replyJson(reply), text("whole")],
    [
      "a stream with \\r\\n",
      replyStream(
        formatEvent(buildDelta({ content: "x" })).replaceAll("\n", "\r\n") + "data: [DONE]\r\n\r\n",
      ),
      text("x"),
    ],
    [
      "a stream with comments, other fields and no blank",
      replyStream(
        `: ping\n\nevent: e\nid: 1\ndata:${JSON.stringify(buildDelta({ content: "x" }))}\n\ndata:[DONE]\n\n`,
      ),
      text("x"),
    ],
    [
      "a stream that ends with a reason but without [DONE]",
      replyStream(formatEvent({ choices: [{ delta: { content: "x" }, finish_reason: "stop" }] })),
      text("x"),
    ],
    [
      "a stream that counts tokens at the end",
      replyStream(
        formatEvent(buildDelta({ content: "x" })) +
          formatEvent({ choices: [], usage: {} }) +
          "data: [DONE]\n\n",
      ),
      text("x"),
    ],
    ["an empty stream", replyDeltas([], "stop"), text("")],
    [
      "a stream that counts tokens behind its reason to end",
      replyStream(
        formatEvent({ choices: [{ delta: { content: "x" }, finish_reason: "length" }] }) +
          formatEvent({ choices: [], usage: {} }) +
          "data: [DONE]\n\n",
      ),
      text("x", false),
    ],
    [
      "an answer for which the room was too small",
      replyDeltas([{ content: "x" }], "length"),
      text("x", false),
    ],
    [
      "an answer that was filtered",
      replyDeltas([{ content: "x" }], "content_filter"),
      text("x", false),
    ],
  ])("an answer is read from %s", async (_, given, expected) => {
    const { answer, seen } = await ask([given]);
    expect(answer).toEqual(expected);
    expect(seen).toHaveLength(1);
  });

  test("an answer contains the tool calls in order, joined from their pieces", async () => {
    const { answer } = await ask([
      replyToolCalls({ name: "a", arguments: { text: "hi" } }, { name: "b", arguments: "{oops" }),
    ]);
    expect(answer).toMatchObject({
      value: {
        toolRequests: [
          { id: "id-0", name: "a", arguments: '{"text":"hi"}' },
          { id: "id-1", name: "b", arguments: "{oops" },
        ],
      },
    });
  });

  test.each<[string, Reply]>([
    ["malformed JSON", replyStream("data: {oops\n\n")],
    ["another shape", replyStream(formatEvent({ error: { message: "overloaded" } }))],
    ["one piece of malformed JSON", (response) => response.end("<html>")],
    ["one piece of another shape", replyJson({ choices: "none" })],
    ["tool calls of another shape", replyDeltas([{ tool_calls: [{ index: -1 }] }], "stop")],
  ])("an answer that is %s is malformed, and the request is not repeated", async (_, given) => {
    const { answer, seen } = await ask([given, replyText("again")]);
    expect(answer).toMatchObject({ ok: false, code: "model.malformed" });
    expect(seen).toHaveLength(1);
  });

  test("an answer above 4 MiB is aborted", async () => {
    const huge = replyDeltas([{ content: "x".repeat(5_000_000) }], "stop");
    const { answer } = await ask([huge, huge, huge, huge]);
    expect(answer).toMatchObject({ ok: false, code: "model.cut_off" });
  });
});

describe("a temporary failure", () => {
  test.each<[string, Reply]>([
    ["a rate limit", replyStatus(429)],
    ["an overloaded server", replyStatus(503)],
    ["a broken server", replyStatus(500)],
    ["a stream that is cut off in an event", replyCutOff({ content: "half" })],
    ["a stream that ends early", replyStream(formatEvent(buildDelta({ content: "half" })))],
    ["a connection that is closed", (response) => void response.destroy()],
  ])("the request is repeated after %s", async (_, failure) => {
    const { answer, seen } = await ask([failure, replyText("whole")]);
    expect(answer).toEqual(text("whole"));
    expect(seen).toHaveLength(2);
  });

  test("the request is repeated after the Retry-After, in seconds or as a date", async () => {
    const inTenSeconds = new Date(Date.now() + 10_500).toUTCString();
    const { answer, waits } = await ask([
      replyStatus(429, { "retry-after": "7" }),
      replyStatus(503, { "retry-after": inTenSeconds }),
      replyText("x"),
    ]);
    expect(answer).toEqual(text("x"));
    expect(waits[0]).toBe(7_000);
    expect(waits[1]).toBeGreaterThan(8_000);
    expect(waits[1]).toBeLessThanOrEqual(10_500);
  });

  test("the request is sent at most four times, and the fault does not quote the endpoint", async () => {
    const { answer, seen } = await ask([
      replyStatus(429),
      replyStatus(429),
      replyStatus(429),
      replyStatus(429),
      replyText("x"),
    ]);
    expect(answer).toEqual({
      ok: false,
      code: "model.busy",
      detail: "The endpoint of the model answered with status 429",
    });
    expect(seen).toHaveLength(4);
  });

  test("the request is not repeated for a Retry-After above a minute", async () => {
    const { answer, seen } = await ask([replyStatus(429, { "retry-after": "61" }), replyText("x")]);
    expect(answer).toMatchObject({ code: "model.busy" });
    expect(seen).toHaveLength(1);
  });

  test.each([400, 401, 403, 404, 422])(
    "the request is not repeated after a refusal with status %i",
    async (code) => {
      const { answer, seen } = await ask([replyStatus(code), replyText("x")]);
      expect(answer).toMatchObject({ ok: false, code: "model.refused" });
      expect(seen).toHaveLength(1);
    },
  );
});

test("a redirect does not receive the key or the prompt", async () => {
  const { answer, seen } = await ask([
    replyStatus(307, { location: "/v1/elsewhere" }),
    replyStatus(307, { location: "/v1/elsewhere" }),
    replyStatus(307, { location: "/v1/elsewhere" }),
    replyStatus(307, { location: "/v1/elsewhere" }),
  ]);
  expect(answer).toMatchObject({ ok: false, code: "model.unreachable" });
  expect(seen.every(({ path }) => path === "/v1/chat/completions")).toBe(true);
});

test("a missing endpoint is unreachable", async () => {
  const endpoint = { baseUrl: "http://127.0.0.1:9", model: "m1" };
  const chat = createChat(createModelCaller(endpoint, createFastRuntime()));
  const answer = await chat({ messages: [user], tools: [] }, new AbortController().signal);
  expect(answer).toMatchObject({ ok: false, code: "model.unreachable" });
});

describe("aborting", () => {
  test("an abort closes the connection of a silent endpoint", async () => {
    const controller = new AbortController();
    const closed = new Promise<void>((resolve) => server.setReplies(neverReply(resolve)));
    const endpoint = { baseUrl: server.baseUrl, model: "m1" };
    const chat = createChat(createModelCaller(endpoint, createFastRuntime()));
    const answer = chat({ messages: [user], tools: [] }, controller.signal);
    setTimeout(() => controller.abort(), 50);
    expect(await answer).toMatchObject({ ok: false, code: "model.aborted" });
    await closed;
    expect(server.received).toHaveLength(1);
  });

  test("an abort ends the wait for the next attempt", async () => {
    const controller = new AbortController();
    server.setReplies(replyStatus(429, { "retry-after": "50" }), replyText("x"));
    const runtime = createFastRuntime();
    const patient = { ...runtime, schedule: () => () => {} };
    const endpoint = { baseUrl: server.baseUrl, model: "m1" };
    const chat = createChat(createModelCaller(endpoint, patient));
    const answer = chat({ messages: [user], tools: [] }, controller.signal);
    setTimeout(() => controller.abort(), 50);
    expect(await answer).toMatchObject({ ok: false, code: "model.aborted" });
    expect(server.received).toHaveLength(1);
  });
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { createModelCaller } from "../model/model-caller.ts";
import { createSystemRuntime } from "../runtime.ts";
import { createFastRuntime } from "../testing/agents/fast-runtime.ts";
import {
  replyJson,
  startModelServer,
  replyStatus,
  type ModelServer,
  type Reply,
} from "../testing/servers/model-server.ts";
import { createEndpointEmbedder } from "./endpoint-embedder.ts";
import { openMemory } from "./open-memory.ts";

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const { signal } = new AbortController();

function newEmbedder() {
  const endpoint = { baseUrl: server.baseUrl, model: "e1", apiKey: "key-2" };
  return createEndpointEmbedder("e1", createModelCaller(endpoint, createFastRuntime()));
}

async function embed(texts: string[], ...replies: Reply[]) {
  server.setReplies(...replies);
  return newEmbedder().embed(texts, signal);
}

const vectors = (...given: unknown[]) =>
  replyJson({ data: given.map((embedding, index) => ({ index, embedding })) });

test("all texts are sent to the embeddings endpoint in one request with the key of that endpoint", async () => {
  await embed(["a", "b"], vectors([1, 0], [0, 1]));
  expect(server.received).toEqual([
    {
      path: "/v1/embeddings",
      authorization: "Bearer key-2",
      body: { model: "e1", input: ["a", "b"], encoding_format: "float" },
    },
  ]);
});

test("vectors are scaled to length 1 and returned in the order of the texts", async () => {
  const answer = await embed(
    ["a", "b"],
    replyJson({
      data: [
        { index: 1, embedding: [0, 2] },
        { index: 0, embedding: [3, 4] },
      ],
    }),
  );
  const expected = [
    [3 / 5, 4 / 5],
    [0, 1],
  ];
  expect(answer).toEqual({
    ok: true,
    vectors: expected.map((vector) => Float32Array.from(vector)),
  });
});

test("the embedder waits for a rate limit and tries again", async () => {
  expect(await embed(["a"], replyStatus(429, { "retry-after": "1" }), vectors([1]))).toMatchObject({
    ok: true,
  });
});

describe("an answer is refused", () => {
  test.each<[string, Reply]>([
    ["with too few vectors", vectors([1, 0])],
    ["with vectors of different dimensions", vectors([1, 0], [1])],
    ["with empty vectors", vectors([], [])],
    ["with texts instead of numbers", vectors(["1"], ["2"])],
    [
      "with a number beyond all numbers",
      (response) =>
        response.end('{"data":[{"index":0,"embedding":[1e999]},{"index":1,"embedding":[1]}]}'),
    ],
    ["of another shape", replyJson({ vectors: [] })],
    ["that is malformed JSON", (response) => response.end("<html>")],
    ["with another status", replyStatus(401)],
  ])("an answer %s is refused", async (_, reply) => {
    expect(await embed(["a", "b"], reply)).toMatchObject({
      ok: false,
      code: "memory.not_embedded",
    });
    expect(server.received).toHaveLength(1);
  });
});

test("a memory stores and recalls by the endpoint's embeddings", async () => {
  const runtime = createSystemRuntime(silentLog);
  const opened = openMemory({ path: ":memory:", embedder: newEmbedder(), runtime });
  if (!opened.ok) throw new Error(opened.fault);
  const { memory } = opened;
  server.setReplies(vectors([1, 0]), vectors([0, 1]), vectors([1, 0.1]), replyStatus(400));
  await memory.remember({ caller: "a", content: "the feline", type: "semantic" }, signal);
  await memory.remember({ caller: "a", content: "the car", type: "semantic" }, signal);
  const recalled = await memory.recall("cat", { caller: "a" }, signal);
  expect(recalled).toMatchObject({
    ok: true,
    items: [{ content: "the feline" }, { content: "the car" }],
  });
  expect(await memory.recall("cat", { caller: "a" }, signal)).toMatchObject({
    ok: false,
    detail: "The endpoint of the model answered with status 400",
  });
  memory.close();
});

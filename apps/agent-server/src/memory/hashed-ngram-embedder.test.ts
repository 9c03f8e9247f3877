import { describe, expect, test } from "vitest";
import { calculateCosine } from "./embedder.ts";
import { hashedNgramEmbedder } from "./hashed-ngram-embedder.ts";

const { signal } = new AbortController();

async function similarity(a: string, b: string): Promise<number> {
  const embedded = await hashedNgramEmbedder.embed([a, b], signal);
  if (!embedded.ok) throw new Error(embedded.detail);
  const [first, second] = embedded.vectors;
  if (first === undefined || second === undefined) throw new Error("too few vectors");
  return calculateCosine(first, second);
}

describe("related texts reach the threshold, others do not", () => {
  test.each([
    ["The capital of France is Paris", "What is the capital of France?", true],
    ["The capital of France is Paris", "paris", true],
    ["The sky is blue", "what colour is the SKY?", true],
    ["Project Apollo deploys on Fridays", "When does Apollo deploy?", true],
    ["Größe 42 passt", "größe", true],
    ["东京是日本的首都", "日本的首都是哪里", true],
    ["The capital of France is Paris", "How do I bake bread?", false],
    ["The sky is blue", "quantum computing basics", false],
    ["roses and gardening", "stock market prediction", false],
  ])("%j and %j are related: %j", async (a, b, related) => {
    expect((await similarity(a, b)) >= hashedNgramEmbedder.relatedThreshold).toBe(related);
  });
});

test.each(["a", "The sky is blue", "!!!", "🙂", "é".normalize("NFD")])(
  "%j has the cosine 1 with itself",
  async (text) => {
    expect(await similarity(text, text)).toBeCloseTo(1, 5);
  },
);

test("letter case and Unicode form do not change a vector", async () => {
  expect(await similarity("CAFÉ", "café".normalize("NFD"))).toBeCloseTo(1, 5);
});

test("an empty text is similar to no text, not even itself", async () => {
  expect(await similarity("", "")).toBe(0);
});

test("a cosine stays within -1 and 1 despite rounding", () => {
  const [a, b] = [Float32Array.of(1.000001), Float32Array.of(-1.000001)];
  expect([calculateCosine(a, a), calculateCosine(a, b)]).toEqual([1, -1]);
});

test("vectors of different dimensions have the cosine 0", () => {
  expect(calculateCosine(Float32Array.of(1), Float32Array.of(1, 0))).toBe(0);
});

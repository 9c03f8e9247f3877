import * as v from "valibot";
import { boundedBody } from "../model/bounded-body.ts";
import { refusal, type Exchange, type Reading } from "../model/exchange.ts";
import { parseJson } from "../model/parse-json.ts";
import { normalized, type Embedder } from "./embedder.ts";

const answerBytes = 16_777_216;

const Answer = v.object({
  data: v.array(
    v.object({
      index: v.pipe(v.number(), v.integer(), v.minValue(0)),
      embedding: v.pipe(v.array(v.pipe(v.number(), v.finite())), v.nonEmpty()),
    }),
  ),
});

/** Embeddings of an OpenAI-compatible endpoint. */
export function embeddingsEndpoint(model: string, exchange: Exchange): Embedder {
  return {
    id: `endpoint:${model}`,
    related: 0.4,
    async embed(texts, signal) {
      const body = { input: texts, encoding_format: "float" };
      const answer = await exchange(
        "/embeddings",
        body,
        (response) => read(response, texts),
        signal,
      );
      if (answer.ok) return { ok: true, vectors: answer.value };
      return { ok: false, code: "memory.not_embedded", detail: answer.detail };
    },
  };
}

async function read(
  response: Response,
  texts: readonly string[],
): Promise<Reading<readonly Float32Array[]>> {
  const text = await new Response(boundedBody(response, answerBytes)).text();
  const parsed = v.safeParse(Answer, parseJson(text));
  if (!parsed.success) return malformed;
  // Endpoints need not keep the order.
  const byIndex = new Map(parsed.output.data.map(({ index, embedding }) => [index, embedding]));
  const vectors = texts.flatMap((_, index) => {
    const embedding = byIndex.get(index);
    return embedding === undefined ? [] : [normalized(Float32Array.from(embedding))];
  });
  const dimensions = new Set(vectors.map(({ length }) => length));
  if (vectors.length !== texts.length || dimensions.size !== 1) return malformed;
  return { ok: true, value: vectors };
}

const malformed = refusal("model.malformed", "gave embeddings that are none");

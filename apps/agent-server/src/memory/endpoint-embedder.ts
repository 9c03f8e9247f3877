import * as v from "valibot";
import { answerBody } from "../model/answer-body.ts";
import { buildModelRefusal, type CallModel, type ModelResult } from "../model/model-caller.ts";
import { parseJson } from "../model/parse-json.ts";
import { normalize, type Embedder } from "./embedder.ts";

const MAX_ANSWER_BYTES = 16_777_216;

const Answer = v.object({
  data: v.array(
    v.object({
      index: v.pipe(v.number(), v.integer(), v.minValue(0)),
      embedding: v.pipe(v.array(v.pipe(v.number(), v.finite())), v.nonEmpty()),
    }),
  ),
});

/** Creates an embedder that calls an OpenAI-compatible endpoint. */
export function createEndpointEmbedder(model: string, callModel: CallModel): Embedder {
  return {
    id: `endpoint:${model}`,
    relatedThreshold: 0.4,
    async embed(texts, signal) {
      const body = { input: texts, encoding_format: "float" };
      const answer = await callModel(
        "/embeddings",
        body,
        (response) => readEmbeddings(response, texts),
        signal,
      );
      if (answer.ok) return { ok: true, vectors: answer.value };
      return { ok: false, code: "memory.not_embedded", detail: answer.detail };
    },
  };
}

async function readEmbeddings(
  response: Response,
  texts: readonly string[],
): Promise<ModelResult<readonly Float32Array[]>> {
  const text = await new Response(answerBody(response, MAX_ANSWER_BYTES)).text();
  const parsed = v.safeParse(Answer, parseJson(text));
  if (!parsed.success) return MALFORMED_REFUSAL;
  // Endpoints may return embeddings in any order.
  const byIndex = new Map(parsed.output.data.map(({ index, embedding }) => [index, embedding]));
  const vectors = texts.flatMap((_, index) => {
    const embedding = byIndex.get(index);
    return embedding === undefined ? [] : [normalize(Float32Array.from(embedding))];
  });
  const dimensions = new Set(vectors.map(({ length }) => length));
  if (vectors.length !== texts.length || dimensions.size !== 1) return MALFORMED_REFUSAL;
  return { ok: true, value: vectors };
}

const MALFORMED_REFUSAL = buildModelRefusal("model.malformed", "sent malformed embeddings");

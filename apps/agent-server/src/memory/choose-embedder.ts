import { createModelCaller, type ModelEndpoint } from "../model/exchange.ts";
import type { Runtime } from "../runtime.ts";
import type { Embedder } from "./embedder.ts";
import { createEndpointEmbedder } from "./embeddings-endpoint.ts";
import { hashedNgramEmbedder } from "./hashed-ngrams.ts";

/** The endpoint where one is configured, else the embedder that needs none. */
export function chooseEmbedder(endpoint: ModelEndpoint | undefined, runtime: Runtime): Embedder {
  return endpoint === undefined
    ? hashedNgramEmbedder
    : createEndpointEmbedder(endpoint.model, createModelCaller(endpoint, runtime));
}

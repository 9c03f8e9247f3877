import { createModelCaller, type ModelEndpoint } from "../model/model-caller.ts";
import type { Runtime } from "../runtime.ts";
import type { Embedder } from "./embedder.ts";
import { createEndpointEmbedder } from "./endpoint-embedder.ts";
import { hashedNgramEmbedder } from "./hashed-ngram-embedder.ts";

/** Returns the configured endpoint's embedder, otherwise the built-in one. */
export function chooseEmbedder(endpoint: ModelEndpoint | undefined, runtime: Runtime): Embedder {
  return endpoint === undefined
    ? hashedNgramEmbedder
    : createEndpointEmbedder(endpoint.model, createModelCaller(endpoint, runtime));
}

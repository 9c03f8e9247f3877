import { errors, refuse } from "@agent/wire";
import { NO_STORE } from "../http/caching.ts";
import type { Handlers } from "../http/handler.ts";
import type { RateLimiter } from "../http/limits/rate-limit.ts";
import type { Services } from "../services.ts";
import { addCheckpoint } from "./add-checkpoint.ts";
import { findCosignedNote } from "./store.ts";

type WitnessHandlers = Pick<Handlers, "addCheckpoint" | "getWitnessedCheckpoint">;

/** Returns the handlers of the witness; their paths are not served while it is off. */
export function witnessHandlers(services: Services, limiter: RateLimiter): WitnessHandlers {
  const { witness, storage } = services;
  return {
    async addCheckpoint({ body }) {
      if (witness === undefined) return refuse("log.origin_unknown");
      const answer = await addCheckpoint({ ...services, witness }, body, limiter);
      const status = answer.ok === false ? errors[answer.code].status : answer.status;
      if (status !== 200) witness.recordRefusal(status);
      return answer;
    },
    async getWitnessedCheckpoint({ params }) {
      const content = await findCosignedNote(storage.read, params.originHash);
      if (content === undefined) return refuse("log.origin_unknown");
      return {
        status: 200,
        mediaType: "text/plain; charset=utf-8",
        content,
        headers: NO_STORE,
      };
    },
  };
}

import type { ErrorText } from "./error-text.ts";

/** Refusals of the relay's transparency log. */
export const logErrors = {
  "log.no_checkpoint": { status: 404, text: "The log has no such checkpoint yet" },
  "log.tile_not_found": { status: 404, text: "The log has no such tile" },
  "log.entry_not_found": { status: 404, text: "The log has no entry of this artifact" },
  "log.not_integrated": { status: 409, text: "No checkpoint covers the entry yet" },
} as const satisfies Record<string, ErrorText>;

import type { ErrorText } from "./error-text.ts";

/** Refusals of a witness that is asked to cosign the head of a transparency log. */
export const witnessErrors = {
  "log.malformed": { status: 400, text: "Request is not in the form of C2SP tlog-witness" },
  "log.shrunk": { status: 400, text: "Old size is above the size of the checkpoint" },
  "log.key_unknown": { status: 403, text: "Checkpoint has no signature of its log" },
  "log.signature_invalid": { status: 403, text: "Signature of the log verification failed" },
  "log.origin_unknown": { status: 404, text: "Log is not known to this witness" },
  "log.consistency_invalid": {
    status: 422,
    text: "Checkpoint does not extend the one that was cosigned last",
  },
  "log.equivocation": { status: 422, text: "Log has signed two roots of one size" },
} as const satisfies Record<string, ErrorText>;

import { boundedBody } from "@agent/client";

/** Returns the body of an endpoint's answer, which fails with an error after `maxBytes`. */
export function answerBody(
  response: Response,
  maxBytes: number,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return boundedBody(response.body ?? new Blob([]).stream(), {
    maxBytes,
    tooLong: () => new Error("the answer is too large"),
  });
}

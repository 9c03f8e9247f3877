import type { MediaAnswer } from "@agent/wire";

/** Builds a response that is not JSON: a text, bytes or a stream. */
export function createMediaResponse(
  answer: MediaAnswer,
  headers: Record<string, string>,
): Response {
  const { status, mediaType, content } = answer;
  const isWhole = typeof content === "string" || content instanceof Uint8Array;
  const body = isWhole ? content : ReadableStream.from(encodeChunks(content));
  return new Response(body, {
    status,
    headers: { ...headers, "content-type": mediaType },
  });
}

async function* encodeChunks(pieces: AsyncIterable<string>): AsyncIterable<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(piece);
}

import type { EgressFetch } from "../http/egress.ts";

/**
 * Tells when the answer to a POST breaks off. The MCP client does not notice that by itself where the
 * answer is a stream, and would wait for the rest of it.
 */
export function watchedFetch(ask: EgressFetch, broken: (error: unknown) => void): EgressFetch {
  return async (url, init) => {
    const answer = await ask(url, init);
    if (answer.body === null || init?.method !== "POST") return answer;
    const failed = (error: unknown) => {
      // What the client itself ended is not broken.
      if (init.signal?.aborted !== true) broken(error);
    };
    return new Response(watchedBody(answer.body, failed), answer);
  };
}

function watchedBody(
  source: ReadableStream<Uint8Array>,
  failed: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await reader.read();
          if (chunk.done) controller.close();
          else controller.enqueue(chunk.value);
        } catch (error) {
          failed(error);
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

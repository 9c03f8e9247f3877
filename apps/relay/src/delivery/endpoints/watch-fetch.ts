import type { EgressFetch } from "../../http/egress/egress.ts";

/**
 * Reports when the answer to a POST breaks off. The MCP client does not detect that in a stream, and
 * would wait for the rest of it.
 */
export function watchFetch(fetchUrl: EgressFetch, onBroken: (error: unknown) => void): EgressFetch {
  return async (url, init) => {
    const answer = await fetchUrl(url, init);
    if (answer.body === null || init?.method !== "POST") return answer;
    const onFailure = (error: unknown) => {
      // A request that the client aborted is not broken.
      if (init.signal?.aborted !== true) onBroken(error);
    };
    return new Response(watchBody(answer.body, onFailure), answer);
  };
}

function watchBody(
  source: ReadableStream<Uint8Array>,
  onFailure: (error: unknown) => void,
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
          onFailure(error);
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

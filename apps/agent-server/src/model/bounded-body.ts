/** The same body, which breaks off with an error after `limit` bytes. */
export function boundedBody(
  response: Response,
  limit: number,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = limit;
  const body = response.body ?? new ReadableStream({ start: (controller) => controller.close() });
  return body.pipeThrough(
    new TransformStream({
      transform(chunk: Uint8Array<ArrayBuffer>, controller) {
        left -= chunk.byteLength;
        if (left < 0) controller.error(new Error("the answer is too large"));
        else controller.enqueue(chunk);
      },
    }),
  );
}

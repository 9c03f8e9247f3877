export interface BodyBounds {
  readonly maxBytes: number;
  /** The error of a body that is longer, as its reader sees it. */
  readonly tooLong: () => Error;
  /** Turns an error of the source into the one its reader sees; absent: it stays what it is. */
  readonly failed?: (error: unknown) => unknown;
  /** Called once, when the body has ended in any way. */
  readonly ended?: () => void;
}

/** Passes a body on chunk by chunk and counts; a longer one is cut off as a failure. */
export function boundedBody(
  source: ReadableStream<Uint8Array<ArrayBuffer>>,
  { maxBytes, tooLong, failed = (error) => error, ended = () => {} }: BodyBounds,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = source.getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const chunk = await reader.read();
          if (chunk.done) {
            ended();
            controller.close();
            return;
          }
          bytes += chunk.value.byteLength;
          if (bytes > maxBytes) throw tooLong();
          controller.enqueue(chunk.value);
        } catch (error) {
          ended();
          controller.error(failed(error));
          await reader.cancel(error).catch(() => undefined);
        }
      },
      async cancel(reason) {
        ended();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

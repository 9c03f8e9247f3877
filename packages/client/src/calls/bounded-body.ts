/** The maximum length in bytes of a body that is read, and the errors of its reader. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** Creates the error that the reader receives if the body is longer. */
  readonly tooLong: () => Error;
  /** Maps an error of the source to the error that the reader receives; unchanged by default. */
  readonly failed?: (error: unknown) => unknown;
  /** Called once when the body has ended, for whatever reason. */
  readonly ended?: () => void;
}

/** Returns the body with a limit in bytes, beyond which it fails and the source is cancelled. */
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

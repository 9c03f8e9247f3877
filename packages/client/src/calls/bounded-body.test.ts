import { expect, test } from "vitest";
import { boundedBody } from "./bounded-body.ts";

/** A source of chunks of four bytes; `state` records its cancellation and the calls of `ended`. */
function bounded(maxBytes: number, chunks: number) {
  const state = { cancelled: undefined as unknown, ended: 0 };
  let left = chunks;
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (left-- > 0) controller.enqueue(new Uint8Array(4));
      else controller.close();
    },
    cancel(reason) {
      state.cancelled = reason;
    },
  });
  const tooLong = () => new RangeError("too long");
  const body = boundedBody(source, { maxBytes, tooLong, ended: () => state.ended++ });
  return { body, state };
}

const bytesOf = async (body: ReadableStream<Uint8Array<ArrayBuffer>>) =>
  (await new Response(body).arrayBuffer()).byteLength;

test("a body of exactly the limit is passed on whole", async () => {
  const { body, state } = bounded(8, 2);
  expect(await bytesOf(body)).toBe(8);
  expect(state).toEqual({ cancelled: undefined, ended: 1 });
});

test("a body one byte over the limit fails and cancels its source", async () => {
  const { body, state } = bounded(7, 9);
  await expect(bytesOf(body)).rejects.toThrow(RangeError);
  expect(state).toEqual({ cancelled: expect.any(RangeError) as unknown, ended: 1 });
});

test("an error of the source reaches the reader as mapped by `failed`", async () => {
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: (controller) => controller.error(new Error("raw")),
  });
  const body = boundedBody(source, {
    maxBytes: 1,
    tooLong: () => new Error("too long"),
    failed: () => new Error("worded"),
  });
  await expect(bytesOf(body)).rejects.toThrow("worded");
});

test("a reader that stops reading cancels the source", async () => {
  const { body, state } = bounded(8, 9);
  await body.cancel("enough");
  expect(state).toEqual({ cancelled: "enough", ended: 1 });
});

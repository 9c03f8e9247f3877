import { expect, test } from "vitest";
import { eventData } from "./server-sent-events.ts";

async function read(text: string, size: number): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) {
        controller.enqueue(bytes.slice(at, at + size));
      }
      controller.close();
    },
  });
  const events: string[] = [];
  for await (const data of eventData(body)) events.push(data);
  return events;
}

const cases: [string, string, string[]][] = [
  ["one event", "data: a\n\n", ["a"]],
  ["text of many bytes a character", "data: 世界 🙂\n\n", ["世界 🙂"]],
  ["lines that end with CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["lines that end with CR", "data: a\r\rdata: b\r\r\n", ["a", "b"]],
  ["several lines of data", "data: a\ndata:\ndata:  b\n\n", ["a\n\n b"]],
  ["comments, other fields and empty events", ": c\n\n\nevent: e\nid: 1\n\ndata: a\n\n", ["a"]],
  ["an event that is cut off", "data: a\n\ndata: b\n", ["a"]],
  ["nothing", "", []],
];

test.each(cases)("%s is read whole and in pieces", async (_, text, expected) => {
  for (const size of [1, 2, 3, 1_000]) expect(await read(text, size)).toEqual(expected);
});

import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { watchOutput } from "./watch-output.ts";

const withCode = (code: string) => Object.assign(new Error(`${code}: write`), { code });

test.each<[stream: "stdout" | "stderr", code: string, lost: string[]]>([
  ["stdout", "ENOSPC", ["the output cannot be written: ENOSPC: write"]],
  ["stdout", "EIO", ["the output cannot be written: EIO: write"]],
  ["stdout", "EPIPE", []],
  ["stderr", "EPIPE", []],
  ["stderr", "ENOSPC", []],
])("an error of %s with the code %s reports %j and is not thrown", (stream, code, lost) => {
  const streams = { stdout: new EventEmitter(), stderr: new EventEmitter() };
  const reported: string[] = [];
  const stop = watchOutput(streams, (message) => reported.push(message));
  streams[stream].emit("error", withCode(code));
  expect(reported).toEqual(lost);
  stop();
  streams[stream].emit("error", withCode(code));
  expect(reported).toEqual(lost);
});

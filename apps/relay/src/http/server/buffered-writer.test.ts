import { expect, test } from "vitest";
import { createBufferedWriter } from "./buffered-writer.ts";

function open() {
  const written: string[] = [];
  const scheduled: (() => void)[] = [];
  const writer = createBufferedWriter({ write: (text) => written.push(text) }, (flush) =>
    scheduled.push(flush),
  );
  return { writer, written, runTurn: () => scheduled.splice(0).forEach((flush) => flush()) };
}

test("the lines of one turn are written together and in order", () => {
  const { writer, written, runTurn } = open();
  writer.write("a");
  writer.write("b");
  expect(written).toEqual([]);
  runTurn();
  writer.write("c");
  runTurn();
  expect(written).toEqual(["a\nb\n", "c\n"]);
});

test("flush writes pending lines immediately, and the end of the turn writes nothing more", () => {
  const { writer, written, runTurn } = open();
  writer.write("a");
  writer.flush();
  expect(written).toEqual(["a\n"]);
  runTurn();
  writer.flush();
  expect(written).toEqual(["a\n"]);
});

test("lines are written during a turn that produces many of them", () => {
  const { writer, written, runTurn } = open();
  for (let line = 0; line < 100; line += 1) writer.write("x".repeat(10_000));
  expect(written.length).toBeGreaterThan(5);
  runTurn();
  expect(written.join("")).toHaveLength(100 * 10_001);
});

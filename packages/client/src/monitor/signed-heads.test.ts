import { entryOf } from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import { expect, test } from "vitest";
import { findFork, listUnproven, openStoredHead, type SeenHead } from "./signed-heads.ts";

/** Returns the head of a history of a log; two histories differ from the first entry on. */
function createHead(size: number, history = "one"): SeenHead {
  const log = new ModelLog(1);
  while (log.size < size) {
    const record = { task_id: `${history} ${log.size}`, payee_id: "other" };
    log.append(entryOf.settlement(record, { time: 1 }));
  }
  return openStoredHead(log.sign(), log.keys.logKey);
}

const [two, three, otherTwo] = [createHead(2), createHead(3), createHead(2, "another")];

test("two heads of one size with two roots are a fork, wherever they are in the list", () => {
  expect(findFork([two, three, otherTwo])).toEqual([two, otherTwo]);
  expect(findFork([otherTwo, two])).toEqual([otherTwo, two]);
  expect(findFork([two, two, otherTwo, three])).toEqual([two, otherTwo]);
});

test("equal heads and heads of different sizes are no fork", () => {
  expect(findFork([])).toBeNull();
  expect(findFork([two, createHead(2), three])).toBeNull();
  expect(findFork([otherTwo, three])).toBeNull();
});

test("a head is kept once until it is the proven one, and both heads of a fork are kept", () => {
  expect(listUnproven([two, three, createHead(2)], null)).toEqual([two, three]);
  expect(listUnproven([two, three], two)).toEqual([three]);
  expect(listUnproven([otherTwo, two], two)).toEqual([otherTwo]);
});

test("the first 64 heads are kept, and no further ones", () => {
  const heads = Array.from({ length: 70 }, (_, size) => createHead(size));
  expect(listUnproven(heads, null)).toEqual(heads.slice(0, 64));
});

import { expect, test } from "vitest";
import { findPlace, type FoundIds } from "./find-place.ts";

const HONEST = "019b7d21-53eb-7ccd-926c-3badff397a01";
const IMITATOR = "00000000-0000-7000-8000-3badff397a01";
const END = HONEST.slice(-8);

const all = (...ids: string[]): FoundIds => ({ ids, isCut: false });
const first = (...ids: string[]): FoundIds => ({ ids, isCut: true });

test.each([
  ["the end of an agent's id", END, all(), all(HONEST), `#/agents/${HONEST}`],
  [
    "the end of the id of an agent with many tasks",
    END,
    first("t"),
    all(HONEST),
    `#/agents/${HONEST}`,
  ],
  ["the end of a task's id", END, all(HONEST), all(), `#/tasks/${HONEST}`],
  ["a whole id", HONEST, all(), all(IMITATOR, HONEST), `#/agents/${HONEST}`],
  ["a whole id among further results", HONEST, all(), first(HONEST), `#/agents/${HONEST}`],
  ["an end that two ids have", END, all(), all(HONEST, IMITATOR), undefined],
  ["a shorter end", END.slice(1), all(), all(HONEST), undefined],
  ["another text", "bookkeeper", all(), all(HONEST), undefined],
])(
  "a search for %s of these tasks and agents leads to the right page",
  (_, q, tasks, agents, place) => {
    expect(findPlace(q, { tasks, agents })).toBe(place);
  },
);

test("D31: a search does not lead to the agent with a copied end of an id while there are further results", () => {
  expect(findPlace(END, { tasks: all(), agents: first(IMITATOR) })).toBeUndefined();
});

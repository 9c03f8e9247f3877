import { limits } from "@agent/wire";
import { describe, expect, test } from "vitest";
import {
  createPageAnswer,
  numberDescending,
  numberAscending,
  readPage,
  textDescending,
  textAscending,
} from "./page.ts";

const texts = ["0", "17", "a", "b", "z~"];
const numbers = [1, 2, 10, 20, 30];

const up = <Key>(all: readonly Key[]) => ({
  find: async (from: Key, limit: number) => all.filter((key) => key > from).slice(0, limit),
  keyOf: (key: Key) => key,
});
const down = <Key>(all: readonly Key[]) => ({
  find: async (from: Key, limit: number) =>
    all
      .toReversed()
      .filter((key) => key < from)
      .slice(0, limit),
  keyOf: (key: Key) => key,
});

const lists = {
  "texts from the first": { all: texts, list: { order: textAscending, ...up(texts) } },
  "texts from the last": {
    all: texts.toReversed(),
    list: { order: textDescending, ...down(texts) },
  },
  "numbers from the first": { all: numbers, list: { order: numberAscending, ...up(numbers) } },
  "numbers from the last": {
    all: numbers.toReversed(),
    list: { order: numberDescending, ...down(numbers) },
  },
} as const;

describe.each(Object.entries(lists))("pages of %s", (_, { all, list }) => {
  const page = list as Parameters<typeof readPage<string | number, string | number>>[1];

  test.each([1, 2, 5, 6])(
    "pages of %i rows contain every row once and in order, and none is empty",
    async (limit) => {
      const seen: (string | number)[] = [];
      for (let cursor: string | undefined; ;) {
        const read = await readPage({ limit, cursor }, page);
        if (!read.ok) throw new Error(read.detail);
        expect(read.rows).not.toEqual([]);
        seen.push(...read.rows);
        if (read.next_cursor === null) break;
        cursor = read.next_cursor;
      }
      expect(seen).toEqual(all);
    },
  );
});

test("a page has the requested number of rows, 50 by default", async () => {
  const many = Array.from({ length: 100 }, (_, index) => index + 1);
  const asked = (limit?: number) =>
    createPageAnswer(
      { limit },
      { order: numberAscending, ...up(many), show: (rows) => ({ rows }) },
    );
  expect(await asked(3)).toMatchObject({ status: 200, body: { rows: [1, 2, 3] } });
  expect(await asked()).toMatchObject({ body: { rows: many.slice(0, limits.defaultPageSize) } });
});

test("a cursor of another list is refused without reading rows", async () => {
  const find = () => Promise.reject(new Error("was read"));
  const cursor = Buffer.from("a").toString("base64url");
  const list = { order: numberAscending, find, keyOf: Number, show: () => ({}) };
  expect(await createPageAnswer({ cursor }, list)).toMatchObject({
    ok: false,
    code: "request.invalid",
  });
});

test("H28: a page contains only as many long entries as clients can read, and the next pages contain the others", async () => {
  const half = limits.pageBytes / 2;
  const sizes = [half, half, 10, limits.outboundBytes, 10, 10];
  const entries = sizes.map((size, index) => ({ key: index + 1, text: "x".repeat(size) }));
  const pages: { readonly keys: number[]; readonly bytes: number }[] = [];
  for (let cursor: string | undefined; ;) {
    const answer = await createPageAnswer(
      { cursor, limit: sizes.length },
      {
        order: numberAscending,
        find: async (from, limit) => entries.filter(({ key }) => key > from).slice(0, limit),
        keyOf: ({ key }) => key,
        show: (rows) => ({ entries: rows }),
      },
    );
    if (!answer.ok) throw new Error(answer.detail);
    const keys = answer.body.entries.map(({ key }) => key);
    pages.push({ keys, bytes: JSON.stringify(answer.body.entries).length });
    if (answer.body.next_cursor === null) break;
    cursor = answer.body.next_cursor;
  }
  expect(pages.flatMap(({ keys }) => keys)).toEqual(entries.map(({ key }) => key));
  // An entry that is larger than a page is alone on its page.
  const large = pages.filter(({ bytes }) => bytes > limits.pageBytes);
  expect(large.map(({ keys }) => keys)).toEqual([[4]]);
});

import type { CallRefusal } from "@agent/client";
import { expect, test } from "vitest";
import { findInPages, type PageQuery } from "./find-in-pages.ts";

const refused: CallRefusal = { ok: false, code: "rate.exceeded", status: 429, message: "" };

/** Looks for "b" in a list of these pages; an endless one begins again after the last. */
async function findIn(
  pages: readonly (readonly string[] | CallRefusal)[],
  { isEndless = false } = {},
) {
  const asked: PageQuery[] = [];
  const answer = await findInPages(
    async (query) => {
      asked.push(query);
      const index = Number(query.cursor ?? 0);
      const page = pages[index % pages.length] ?? [];
      if ("ok" in page) return page;
      const isLast = !isEndless && index + 1 === pages.length;
      const next_cursor = isLast ? null : String(index + 1);
      return { ok: true as const, body: { page, next_cursor } };
    },
    ({ page }) => page.find((one) => one === "b"),
  );
  return { answer, cursors: asked.map(({ cursor }) => cursor), asked };
}

test("a list is read up to the page with the wanted entry", async () => {
  const { answer, cursors, asked } = await findIn([["a"], [], ["c", "b"], ["d"]]);
  expect(answer).toEqual({ ok: true, found: "b" });
  expect(cursors).toEqual([undefined, "1", "2"]);
  expect(asked.map(({ limit }) => limit)).toEqual(["200", "200", "200"]);
});

test("a list without the wanted entry is read to its end", async () => {
  const { answer, cursors } = await findIn([["a"], ["c"]]);
  expect(answer).toEqual({ ok: true, found: undefined });
  expect(cursors).toEqual([undefined, "1"]);
});

test("the refusal of a page is returned as the answer", async () => {
  const { answer } = await findIn([["a"], refused, ["b"]]);
  expect(answer).toBe(refused);
});

test("a list that never ends is read up to 10,000 entries", async () => {
  const { answer, cursors } = await findIn([["a"]], { isEndless: true });
  expect(answer).toEqual({ ok: true, found: undefined });
  expect(cursors).toHaveLength(50);
});

import { expect, test } from "vitest";
import { createSingleFlight } from "./single-flight.ts";

/** Work that counts its starts. */
function counter() {
  let starts = 0;
  return { start: async () => (starts += 1), starts: () => starts };
}

test("the work of one key starts once, and its result is returned to all callers", async () => {
  const once = createSingleFlight<number>(10);
  const { start, starts } = counter();
  const [first, second] = [once.run("k", "f", start), once.run("k", "f", start)];
  expect([first.ok && (await first.value), second.ok && (await second.value)]).toEqual([1, 1]);
  once.run("k", "f", start);
  expect(starts()).toBe(1);
});

test("another fingerprint for the key of running or finished work is refused", async () => {
  const once = createSingleFlight<number>(10);
  const { start } = counter();
  once.run("k", "f", start);
  expect(once.run("k", "g", start)).toEqual({ ok: false, code: "work.conflict" });
  await once.find("k");
  expect(once.run("k", "g", start)).toEqual({ ok: false, code: "work.conflict" });
});

test("work that throws can be tried again", async () => {
  const once = createSingleFlight<number>(10);
  const answer = once.run("k", "f", () => Promise.reject(new Error("broken")));
  await expect(answer.ok && answer.value).rejects.toThrow("broken");
  expect(once.find("k")).toBeUndefined();
});

test("all running work and the newest finished work are remembered", async () => {
  const once = createSingleFlight<string>(2);
  once.run("slow", "f", () => new Promise(() => {}));
  for (const key of ["a", "b", "c"]) {
    once.run(key, "f", async () => key);
    await once.find(key);
  }
  expect(once.find("a")).toBeUndefined();
  expect(await once.find("b")).toBe("b");
  expect(await once.find("c")).toBe("c");
  expect(once.find("slow")).toBeDefined();
});

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createStateFile } from "./state-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-state-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("all changes during a write of a state file are stored by one next write, with the newest content", async () => {
  const path = join(folder, "data", "state.json");
  const contents: number[] = [];
  let value = 0;
  const write = createStateFile({
    path,
    getContent: () => {
      contents.push(value);
      return value;
    },
    onFault: () => {},
  });
  const first = write();
  await Promise.resolve();
  const later = [1, 2, 3].map((next) => {
    value = next;
    return write();
  });
  expect(await Promise.all([first, ...later])).toEqual([true, true, true, true]);
  expect(contents.length).toBeLessThanOrEqual(2);
  expect(await readFile(path, "utf8")).toBe("3\n");
});

test("a failed write of a state file is reported once, and the next write is tried", async () => {
  await writeFile(join(folder, "data"), "");
  const path = join(folder, "data", "state.json");
  const faults: unknown[] = [];
  const write = createStateFile({
    path,
    getContent: () => "content",
    onFault: (cause) => void faults.push(cause),
  });
  expect(await Promise.all([write(), write()])).toEqual([false, false]);
  expect(faults).toHaveLength(1);
  await rm(join(folder, "data"));
  expect(await write()).toBe(true);
});

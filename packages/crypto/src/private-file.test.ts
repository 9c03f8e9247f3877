import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  isMissingFile,
  readFileIfPresent,
  readFileOrigin,
  writePrivateText,
} from "./private-file.node.ts";

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "private-text-"));
  path = join(folder, "state.json");
});

afterEach(() => rm(folder, { recursive: true }));

test("a private text replaces a file that all users could read", async () => {
  await writeFile(path, "old");
  await chmod(path, 0o666);
  await writePrivateText(path, "é\n");
  expect(await readFile(path, "utf8")).toBe("é\n");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(["state.json"]);
});

test("a failed write of a private text leaves no temporary file", async () => {
  await expect(writePrivateText(folder, "new")).rejects.toThrow(/EISDIR|ENOTEMPTY/);
  expect(await readdir(join(folder, ".."))).not.toContainEqual(
    expect.stringMatching(`^${folder.slice(folder.lastIndexOf("/") + 1)}\\..*\\.tmp$`),
  );
});

test("A26: a private text can name the origin of its file, which no copy has, also not one over the file", async () => {
  const write = (to: string) => writePrivateText(to, (origin) => origin);
  await write(path);
  const first = await readFile(path, "utf8");
  expect(await readFileOrigin(path)).toBe(first);
  const copy = join(folder, "copy.json");
  await copyFile(path, copy);
  expect(await readFileOrigin(copy)).not.toBe(first);
  await write(path);
  await copyFile(copy, path);
  expect(await readFile(path, "utf8")).toBe(first);
  expect(await readFileOrigin(path)).not.toBe(first);
});

test("a file is read as it is, and a missing one is undefined", async () => {
  expect(await readFileIfPresent(path)).toBeUndefined();
  await writeFile(path, " text \n");
  expect(await readFileIfPresent(path)).toBe(" text \n");
});

test("a file that exists and cannot be read is an error", async () => {
  await expect(readFileIfPresent(folder)).rejects.toThrow("EISDIR");
});

test("only the error of a missing file or folder counts as a missing file", async () => {
  const missing = await readFile(path).catch((error: unknown) => error);
  const unreadable = await readFile(folder).catch((error: unknown) => error);
  expect([missing, unreadable, "ENOENT", undefined].map(isMissingFile)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

import { chmod, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writePrivateFile } from "./private-file.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-private-"));
  path = join(folder, "file.json");
});
afterEach(() => rm(folder, { recursive: true }));

const modeOf = async (file: string) => (await stat(file)).mode & 0o777;
const readStored = async () => JSON.parse(await readFile(path, "utf8")) as unknown;

describe("a private file", () => {
  test.each<[string, () => Promise<unknown>]>([
    ["in a new place", async () => undefined],
    [
      "over one that all users could read",
      async () => {
        await writeFile(path, "old");
        await chmod(path, 0o666);
      },
    ],
    [
      "beside an old temporary file that all users can read",
      async () => {
        await writeFile(`${path}.tmp`, "old");
        await chmod(`${path}.tmp`, 0o666);
      },
    ],
  ])("a private file is readable only by its owner, %s", async (_, prepare) => {
    await prepare();
    await writePrivateFile(path, { a: 1 });
    expect([await readStored(), await modeOf(path)]).toEqual([{ a: 1 }, 0o600]);
  });

  test.each(["file.json", "file.json.tmp"])(
    "a private file is not written through the link %s",
    async (link) => {
      const elsewhere = join(folder, "elsewhere");
      await writeFile(elsewhere, "untouched");
      await symlink(elsewhere, join(folder, link));
      await writePrivateFile(path, { a: 1 });
      expect(await readStored()).toEqual({ a: 1 });
      expect(await readFile(elsewhere, "utf8")).toBe("untouched");
    },
  );

  test("concurrent writes leave one complete file and no temporary file", async () => {
    const long = "x".repeat(100_000);
    await Promise.all(Array.from({ length: 20 }, (_, n) => writePrivateFile(path, { n, long })));
    expect(await readStored()).toMatchObject({ long });
    expect(await readdir(folder)).toEqual(["file.json"]);
  });

  test("a failed write leaves the old file and no temporary file", async () => {
    await writePrivateFile(path, "old");
    await expect(writePrivateFile(path, 1n)).rejects.toThrow("BigInt");
    await expect(writePrivateFile(folder, "new")).rejects.toThrow(/EISDIR|ENOTEMPTY/);
    expect(await readStored()).toBe("old");
    expect(await readdir(folder)).toEqual(["file.json"]);
  });
});

import { expect, test } from "vitest";
import { findFormerHolder, type LockTraces } from "./find-former-holder.ts";

const traces: LockTraces = { hasLockFile: false, statedPid: "7", ownPid: 8 };
const living = new Set([7, 8]);

test.each<[string, Partial<LockTraces>, number | undefined]>([
  ["its lock file was deleted while it runs", {}, 7],
  ["it ended", { statedPid: "9" }, undefined],
  ["the lock file is there, and the lock decides", { hasLockFile: true }, undefined],
  ["the folder is new", { statedPid: undefined }, undefined],
  ["the last process had the same pid", { statedPid: "8" }, undefined],
  ["the pid file is damaged", { statedPid: "-7" }, undefined],
])("D28: the former process of a data folder, if %s", (_, given, holder) => {
  expect(findFormerHolder({ ...traces, ...given }, (pid) => living.has(pid))).toBe(holder);
});

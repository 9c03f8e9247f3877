import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkNodeVersion } from "./check-node-version.ts";

test.each(["22.19.0", "22.20.1", "23.0.0", "24.1.0", "100.0.0"])(
  "Node.js %s is accepted",
  (version) => {
    expect(checkNodeVersion(version)).toBeUndefined();
  },
);

test.each(["20.20.2", "22.18.9", "22.9.0"])(
  "Node.js %s is refused with its version in the fault",
  (version) => {
    expect(checkNodeVersion(version)).toBe(`Node.js 22.19 or newer is needed, this is ${version}`);
  },
);

test("package.json requires the same versions of Node.js", () => {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  expect(JSON.parse(manifest)).toMatchObject({ engines: { node: ">=22.19" } });
});

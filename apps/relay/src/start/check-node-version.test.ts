import { expect, test } from "vitest";
import { checkNodeVersion } from "./check-node-version.ts";

test.each(["22.18.0", "24.1.0", "100.0.0"])("Node.js %s is accepted", (version) => {
  expect(checkNodeVersion(version)).toBeUndefined();
});

test.each(["20.20.2", "22.17.9", "22.9.0"])(
  "Node.js %s is refused, and the refusal names it",
  (version) => {
    expect(checkNodeVersion(version)).toBe(`Node.js 22.18 or newer is needed, this is ${version}`);
  },
);

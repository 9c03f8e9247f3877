import { expect, test } from "vitest";
import { parseOptions } from "./parse-options.ts";

const options = {
  file: { type: "string" },
  key: { type: "string", multiple: true },
  json: { type: "boolean" },
  quorum: { type: "string", default: "0" },
} as const;

test.each<[args: string[], message: string]>([
  [["--file", "a", "--file", "b"], "--file is given twice"],
  [["--json", "--json"], "--json is given twice"],
  [["--quorum=1", "--quorum=2"], "--quorum is given twice"],
  [["--prot"], "Unknown option '--prot'"],
  [["--file"], "Option '--file <value>' argument missing"],
  [["--json=yes"], "Option '--json' does not take an argument"],
  [["--file", "--json"], "--file needs a value that does not begin with a dash"],
  [["-5"], "an argument that begins with -5 is not possible here"],
])("OP18: the call %j is refused: %s", (args, message) => {
  expect(parseOptions(args, options)).toEqual({ ok: false, message });
});

test("OP18: an option that may be given again keeps every value, and a default was not given", () => {
  expect(parseOptions(["--key", "a", "b", "--key", "c", "--json"], options)).toMatchObject({
    ok: true,
    values: { key: ["a", "c"], json: true, quorum: "0" },
    positionals: ["b"],
    names: ["key", "json"],
  });
});

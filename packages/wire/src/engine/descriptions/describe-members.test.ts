import { describe, expect, test } from "vitest";
import { describeMembers } from "./describe-members.ts";

describe("describeMembers", () => {
  test("describeMembers describes a member by its name", () => {
    expect(describeMembers({ task_id: { type: "string" }, ok: { type: "boolean" } })).toEqual({
      task_id: { description: "The id of the task.", type: "string" },
      ok: { type: "boolean" },
    });
  });

  test("describeMembers keeps the description that a schema has", () => {
    const own = { description: "Another." };
    expect(describeMembers({ task_id: own })).toEqual({ task_id: own });
  });

  test.each(["constructor", "toString"])("describeMembers finds no description for %s", (name) => {
    expect(describeMembers({ [name]: {} })).toEqual({ [name]: {} });
  });
});

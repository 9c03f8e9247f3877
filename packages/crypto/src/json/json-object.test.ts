import { describe, expect, test } from "vitest";
import { isJsonObject, isPlainObject } from "./json-object.ts";

describe("the objects of JSON", () => {
  test.each<[unknown, boolean, boolean]>([
    [{}, true, true],
    [{ a: [] }, true, true],
    [Object.create(null), true, true],
    [JSON.parse('{"__proto__": 1}'), true, true],
    [[], false, false],
    [null, false, false],
    [undefined, false, false],
    ["{}", false, false],
    [new Date(0), true, false],
    [new Map(), true, false],
  ])("%j is a JSON object: %s, and a plain one: %s", (value, isJson, isPlain) => {
    expect([isJsonObject(value), isPlainObject(value)]).toEqual([isJson, isPlain]);
  });
});

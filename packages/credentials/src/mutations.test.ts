import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { issueTestCredential, now, createTestPresentation, types } from "../test/fixtures.ts";
import { verifyCredential, verifyPresentation } from "./index.ts";

const kinds = [
  ...types.map((type) => ({
    name: type,
    document: issueTestCredential(type),
    verify: verifyCredential,
  })),
  {
    name: "VerifiablePresentation",
    document: createTestPresentation({ challenge: "4f2c" }),
    verify: verifyPresentation,
  },
];

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/** Lists every object and array in a document, including the outermost. */
function containersOf(value: Json): (Json[] | { [member: string]: Json })[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap(containersOf)];
}

describe.each(kinds)("$name", ({ document, verify }) => {
  const text = JSON.stringify(document);
  const copy = () => JSON.parse(text) as Json;
  const containerAt = fc.nat({ max: containersOf(copy()).length - 1 });

  test("a signed document is refused with any changed byte", () => {
    const printable = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.nat({ max: text.length - 1 }), printable, (at, character) => {
        fc.pre(text[at] !== character);
        const changed = text.slice(0, at) + character + text.slice(at + 1);
        expect(verify(changed, { now }).valid).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  test("a signed document is refused with any added member or entry", () => {
    fc.assert(
      fc.property(containerAt, fc.string(), fc.jsonValue(), (at, name, value) => {
        const changed = copy();
        const container = containersOf(changed)[at]!;
        fc.pre(!Object.hasOwn(container, name));
        if (Array.isArray(container)) container.push(value as Json);
        else Object.defineProperty(container, name, { value, enumerable: true });
        expect(verify(changed as object, { now }).valid).toBe(false);
      }),
    );
  });

  test("a signed document is refused without any member or entry", () => {
    fc.assert(
      fc.property(containerAt, fc.nat(), (at, chosen) => {
        const changed = copy();
        const container = containersOf(changed)[at]!;
        const names = Object.keys(container);
        const name = names[chosen % names.length]!;
        if (Array.isArray(container)) container.splice(Number(name), 1);
        else delete container[name];
        expect(verify(changed as object, { now }).valid).toBe(false);
      }),
    );
  });

  test("a signed document is refused with any other value of a member", () => {
    fc.assert(
      fc.property(containerAt, fc.nat(), fc.jsonValue(), (at, chosen, value) => {
        const changed = copy();
        const container = containersOf(changed)[at] as Record<string, unknown>;
        const names = Object.keys(container);
        const name = names[chosen % names.length]!;
        fc.pre(JSON.stringify(container[name]) !== JSON.stringify(value));
        container[name] = value;
        expect(verify(changed as object, { now }).valid).toBe(false);
      }),
    );
  });

  test("a signed document is valid in any order of members and with any whitespace", () => {
    const reversed = (value: Json): Json => {
      if (typeof value !== "object" || value === null) return value;
      if (Array.isArray(value)) return value.map(reversed);
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([name, member]) => [name, reversed(member)]),
      );
    };
    const respelled = JSON.stringify(reversed(copy()), null, 2);
    expect(respelled).not.toBe(text);
    expect(verify(respelled, { now }).valid).toBe(true);
  });
});

test("the verifier never throws on any input", () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.json(), fc.string()), (value) => {
      expect(verifyCredential(value as object, { now }).code).toBe("credential.malformed");
      expect(verifyPresentation(value as object, { now }).code).toBe("presentation.malformed");
    }),
  );
});
